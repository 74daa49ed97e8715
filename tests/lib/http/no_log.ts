import type { RequestLog } from "@/lib/http/app.ts";

/** A log that is dropped. */
export const NO_LOG: RequestLog = { write() {}, flush() {} };
