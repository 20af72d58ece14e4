// Colors of the page as a canvas needs them. The style sheet has them; the browser says what they are now.

const SEVERITIES = ["critical", "high", "medium", "low", "inconclusive"];

export type Theme = ReturnType<typeof themeOf>;

/** What `var(--name)` is at the moment, whatever scheme is on. */
export function themeOf(names: readonly string[]) {
  const probe = document.createElement("span");
  document.body.append(probe);
  const color = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const categories = names.map((name) => color(`c-${name.replaceAll("_", "-")}`));
  const theme = {
    /** By category, and of text on them. */
    categories,
    inks: categories.map(inkOn),
    text: color("text"),
    dim: color("dim"),
    line: color("line"),
    ground: color("ground"),
    raised: color("raised"),
    /** The brush and a range. */
    accent: color("link"),
    /** Evidence and matches. */
    mark: color("mark"),
    /** By severity. */
    tones: Object.fromEntries(SEVERITIES.map((name) => [name, color(name)])) as Record<string, string>,
    calls: color("c-prediction"),
    /** Text on it. */
    callsInk: inkOn(color("c-prediction")),
  };
  probe.remove();
  return theme;
}

/** Black or white, whichever is easier to read on a color. */
export function inkOn(color: string): string {
  const [red, green, blue] = (color.match(/[\d.]+/g) ?? ["0", "0", "0"]).map((part) => {
    const share = Number(part) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 ? "#fff" : "#000";
}
