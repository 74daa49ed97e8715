type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Cancels the reading of a body, by body, where it has a reader. */
const readers = new WeakMap<Body, () => void>();

/** Registers how the reading of a body is cancelled, which only the holder of its reader can do. */
export function registerCancel(body: Body, cancel: () => void): void {
  readers.set(body, cancel);
}

/**
 * Cancels what has not been read of a request's body. While it waits to be read the client hangs, and its connection is
 * never free; the rest of a cancelled body is received and dropped, so that the client reads the response. A body that was
 * passed on to another connection is left to that one.
 */
export function cancelBody(request: Request): void {
  const body = bodyOf(request);
  if (!body) return;
  const cancel = readers.get(body);
  if (cancel) cancel();
  else if (!body.locked) body.cancel().catch(() => {});
}

/** The body of a request whose client may be gone; null without one. */
export function bodyOf(request: Request): Body | null {
  try {
    return request.body;
  } catch {
    return null;
  }
}

/** Responds to a request and then cancels its body, so that no handler has to. */
export async function thenCancelBody(request: Request, respond: () => Response | Promise<Response>): Promise<Response> {
  try {
    return await respond();
  } finally {
    cancelBody(request);
  }
}
