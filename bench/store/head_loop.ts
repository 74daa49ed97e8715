/** A thread that reads one object's head again and again, and tells how long each answer took. */
import { type S3Server, S3Wire } from "@/bench/wire/s3_wire.ts";
import { ownPort } from "@/embedded/threads.ts";

/** Messages to the thread: the object to read, then stop; it answers stop with all durations in ms. */
export type ToHeadLoop = { server: S3Server; bucket: string; key: string } | { stop: true };

const port = await ownPort();
let stopped = false;

port.onmessage = async ({ data }: MessageEvent<ToHeadLoop>) => {
  if ("stop" in data) {
    stopped = true;
    return;
  }
  const wire = new S3Wire(data.server);
  const durations: number[] = [];
  while (!stopped) {
    const start = performance.now();
    await wire.succeed({ method: "HEAD", bucket: data.bucket, key: data.key });
    durations.push(performance.now() - start);
  }
  wire.close();
  port.postMessage(durations);
};
