import { randomUUID } from "node:crypto";

export const REQUEST_ID_HEADER = "X-Request-ID";
const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The id a request is known by: the one it brought when that is harmless, else 32 lowercase hexadecimal digits. */
export function requestId(incoming: string | null | undefined): string {
  return incoming && ACCEPTED.test(incoming) ? incoming : randomUUID().replaceAll("-", "");
}
