import { type Loop, startLoop } from "@/bench/loop_thread.ts";
import type { S3Server } from "@/bench/wire/s3_wire.ts";
import type { ToHeadLoop } from "./head_loop.ts";

/** Repeats HEAD of an object from a separate thread. */
export function startHeadLoop({ origin, keys }: S3Server, bucket: string, key: string): Loop {
  const begin: ToHeadLoop = { server: { origin, keys }, bucket, key };
  return startLoop(new URL("./head_loop.ts", import.meta.url), "head loop", begin);
}
