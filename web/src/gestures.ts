// Mouse, pen, fingers and wheel on the lanes, as moves of the view.

export interface Moves {
  /** Zoom by a factor around an x. */
  zoom(factor: number, x: number): void;
  /** Move the view by so many pixels. */
  pan(pixels: number): void;
  /** A range is being marked from one x to another; `done` at its end. */
  mark(from: number, to: number, done: boolean): void;
  select(x: number, y: number): void;
  /** Show what lies there as large as it goes. */
  fit(x: number, y: number): void;
  /** What lies under the pointer; null where it has left. */
  hover(x: number, y: number, inside: boolean): void;
  /** Whether a drag that begins there marks a range. */
  marks(y: number): boolean;
}

/** Pixels that a pointer may move in a click. */
const CLICK = 4;

interface Point { x: number; y: number }

export function listen(canvas: HTMLCanvasElement, moves: Moves): void {
  const down = new Map<number, Point>();
  let start: Point | null = null;
  let isMarking = false;
  let hasMoved = false;
  const at = (event: MouseEvent): Point => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const point = at(event);
    down.set(event.pointerId, point);
    canvas.setPointerCapture(event.pointerId);
    if (down.size > 1) {
      hasMoved = true;
      return;
    }
    [start, hasMoved, isMarking] = [point, false, event.shiftKey || moves.marks(point.y)];
  });
  canvas.addEventListener("pointermove", (event) => {
    const point = at(event);
    const before = down.get(event.pointerId);
    if (!before || !start) {
      moves.hover(point.x, point.y, true);
      return;
    }
    down.set(event.pointerId, point);
    if (down.size > 1) {
      pinch(before, point, [...down.entries()].find(([id]) => id !== event.pointerId)![1]);
      return;
    }
    if (!hasMoved && Math.hypot(point.x - start.x, point.y - start.y) < CLICK) return;
    hasMoved = true;
    if (isMarking) moves.mark(start.x, point.x, false);
    else moves.pan(before.x - point.x);
  });
  function pinch(before: Point, point: Point, other: Point): void {
    const [old, now] = [Math.abs(before.x - other.x), Math.abs(point.x - other.x)];
    const middle = (point.x + other.x) / 2;
    if (old > 8 && now > 8) moves.zoom(old / now, middle);
    moves.pan((before.x - point.x) / 2);
  }
  const end = (event: PointerEvent): void => {
    if (!down.delete(event.pointerId) || down.size || !start) return;
    const point = at(event);
    if (event.type === "pointerup") {
      if (hasMoved && isMarking) moves.mark(start.x, point.x, true);
      if (!hasMoved) moves.select(point.x, point.y);
    }
    start = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => moves.hover(0, 0, false));
  canvas.addEventListener("dblclick", (event) => moves.fit(at(event).x, at(event).y));
  canvas.addEventListener(
    "wheel",
    (event) => {
      const point = at(event);
      // A pinch on a trackpad arrives as a wheel with Control.
      if (event.ctrlKey || event.metaKey) moves.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.05 : 0.0035)), point.x);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) moves.pan(event.deltaX || event.deltaY);
      else return;
      event.preventDefault();
    },
    { passive: false },
  );
}
