type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** How to end the reading of the bodies that have a reader. */
const readers = new WeakMap<Body, () => void>();

/** Says how the reading of a body ends; its reader alone can do that. Called by whoever takes the reader. */
export function readBy(body: Body, cancel: () => void): void {
  readers.set(body, cancel);
}

/**
 * Gives up what has not been read of a request's body. As long as it waits to be read the client hangs, and its
 * connection is never free; what is given up is received and dropped, so that the client reads the answer. A body that
 * was handed on to another connection is that one's.
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

/** Answers a request and then gives up its body, so that no handler need think of it. */
export async function thenCancelBody(request: Request, answer: () => Response | Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } finally {
    cancelBody(request);
  }
}
