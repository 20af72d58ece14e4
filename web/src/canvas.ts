// Canvases as large as their place on the screen.

export function context(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  return canvas.getContext("2d")!;
}

/** Gives a canvas the pixels of the screen; on paper it is stretched to the sheet. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number, isPaper: boolean): void {
  const ratio = isPaper ? 2 : Math.min(devicePixelRatio || 1, 3);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = isPaper ? "100%" : `${width}px`;
  canvas.style.height = isPaper ? "auto" : `${height}px`;
  context(canvas).setTransform(ratio, 0, 0, ratio, 0, 0);
}
