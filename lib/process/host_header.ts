import { addDefaultHeaders } from "@/lib/http/default_headers.ts";

/** A host and perhaps a port (RFC 3986, section 3.2.2), loosely: without what ends an authority, or begins one. */
const HOST = /^[\w.~%!$&'()*+,;=:[\]-]*$/;

/** Nearly all requests name what the last one named. */
let last = "";

/**
 * Whether a request names a host, or none (RFC 9112, section 3.2). The runtime writes the header in front of the path, so
 * that a slash in it would make another path of the request than proxies in front have seen.
 */
export function namesHost({ headers }: Pick<Request, "headers">): boolean {
  const host = headers.get("Host");
  if (host === null || host === last) return true;
  if (!HOST.test(host)) return false;
  last = host;
  return true;
}

/** The response to any other request: its connection is closed, as where a head cannot be read. */
export function noHostResponse(): Response {
  const response = new Response("The Host header is not a host\n", { status: 400, headers: { Connection: "close" } });
  addDefaultHeaders(response.headers);
  return response;
}
