import { bodyReader } from "@/lib/runtime/http.ts";
import type { HttpHost } from "@/lib/std/http_host.ts";
import { DEFAULT_CONNECTION_LIMITS } from "./connections.ts";
import { drainingServer } from "./listener.ts";

/** All clients of the embedded servers, this process and programs beside it, have one address. */
const LIMITS = { ...DEFAULT_CONNECTION_LIMITS, maxPerAddress: null };

/** Serves the embedded servers. */
export const LOCAL_HTTP: HttpHost = {
  listen: (address, handler, refuse) => drainingServer({ ...address, limits: LIMITS }, handler, refuse),
  bodyReader,
};
