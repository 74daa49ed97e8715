import type { Repeated } from "@/bench/gateway/load.ts";
import type { ToRequestLoop } from "@/bench/gateway/request_loop.ts";
import { type Loop, startLoop } from "@/bench/loop_thread.ts";

/** Sends a request again and again from a thread of its own. */
export function startRequestLoop(origin: string, request: Repeated): Loop {
  const begin: ToRequestLoop = { origin, request };
  return startLoop(new URL("./request_loop.ts", import.meta.url), "request loop", begin);
}
