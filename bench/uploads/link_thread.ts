/// <reference lib="deno.worker" />
import { throttledLink } from "./throttled_link.ts";

// In a thread of its own, so that neither the bench nor the application takes its time.
self.onmessage = ({ data: { target, bytesPerSecond } }: MessageEvent<{ target: number; bytesPerSecond: number }>) => {
  self.postMessage(throttledLink(target, bytesPerSecond).port);
};
