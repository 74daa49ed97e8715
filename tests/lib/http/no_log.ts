import type { RequestLog } from "@/lib/http/access_log.ts";

/** A log that nobody reads. */
export const NO_LOG: RequestLog = { write() {}, flush() {} };
