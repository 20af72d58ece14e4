// Colors code; lets it and commands be copied.

import { button, el } from "./dom";

/** Comments, texts, numbers, words of the language; everything else has no color. */
const TOKENS =
  /((?:\/\/|#(?!if|else|end|avail)).*)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|\b(\d[\d_.]*)\b|\b(actor|as|async|await|catch|class|def|do|else|enum|extension|False|final|for|from|func|guard|if|import|in|init|lazy|let|lambda|nil|None|private|return|self|static|struct|throw|throws|True|try|var|where|while|with)\b/g;
const KINDS = ["comment", "text", "number", "word"];

export function prepareCode(block: HTMLPreElement): void {
  const code = block.querySelector("code");
  const source = code?.textContent ?? "";
  if (!code || !source) return;
  const pieces: (string | HTMLElement)[] = [];
  let last = 0;
  for (const found of source.matchAll(TOKENS)) {
    const kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)];
    pieces.push(source.slice(last, found.index), el("span", { class: `code-${kind}` }, found[0]));
    last = found.index + found[0].length;
  }
  code.replaceChildren(...pieces, source.slice(last));
  block.replaceWith(el("div", { class: "code" }, block.cloneNode(true), copyButton(source)));
}

export function copyButton(text: string | (() => string), title = "Copy"): HTMLButtonElement {
  const copy = button(title, async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Select it to copy";
    }
    setTimeout(() => (copy.textContent = title), 2_000);
  });
  copy.className = "copy";
  return copy;
}
