import type { RequestLog } from "@/lib/http/access_log.ts";

/** A log that is dropped. */
export const NO_LOG: RequestLog = { write() {}, flush() {} };
