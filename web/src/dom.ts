// Elements out of names and texts. Nothing here reads markup, so a text of a recording stays text.

type Child = Node | string | null | undefined;
type Properties = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** An element; `on...` adds a listener, everything else an attribute. */
export function el<K extends keyof HTMLElementTagNameMap>(name: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value as EventListener);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined));
  return element;
}

export function button(title: string, then: () => void, label?: string): HTMLButtonElement {
  return el("button", { type: "button", onclick: then, "aria-label": label, title: label }, title);
}
