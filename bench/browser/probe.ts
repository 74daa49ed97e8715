/** Counters that the bench's script keeps inside a page. */
export interface Probe {
  /** Canvases that an image was drawn on, by `performance.now()` of the next frame, ms; the newest last. */
  readonly painted: number[];
  /** Durations of tasks above 50 ms. */
  readonly longTasks: number[];
  /** Sum of the layout shifts without an input before them. */
  shifted: number;
}

declare global {
  var probe: Probe;
}

/** Runs in the page before its own scripts. The surface is the visible canvas of the image library. */
export function installProbe(): void {
  const probe: Probe = { painted: [], longTasks: [], shifted: 0 };
  globalThis.probe = probe;
  const { drawImage } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.drawImage = function (this: CanvasRenderingContext2D, ...args: unknown[]) {
    const result = Reflect.apply(drawImage, this, args);
    if (this.canvas.closest?.(".openseadragon-canvas")) requestAnimationFrame((now) => probe.painted.push(now));
    return result;
  };
  new PerformanceObserver((list) => probe.longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask" });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if ("value" in entry && "hadRecentInput" in entry && !entry.hadRecentInput) probe.shifted += Number(entry.value);
    }
  }).observe({ type: "layout-shift", buffered: true });
}
