/**
 * Hands a body on piece by piece. When it breaks off or stalls, the reader's stream breaks as well, so that nobody takes
 * a part for the whole; a reader who leaves ends the upstream's.
 *
 * @param stallMs longest wait for the next piece while the reader wants one
 * @param broken is told why the upstream's body did not end well
 */
export function guardedBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  stallMs: number,
  broken: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  let left = false;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await beforeStall(reader.read(), stallMs);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (left) return;
        broken(error);
        controller.error(new BrokenAnswer());
        reader.cancel().catch(() => {});
      }
    },
    async cancel(reason) {
      left = true;
      await reader.cancel(reason).catch(() => {});
    },
  }, { highWaterMark: 0 });
}

function beforeStall<T>(read: Promise<T>, stallMs: number): Promise<T> {
  const stall = Promise.withResolvers<never>();
  const timer = setTimeout(() => stall.reject(new StalledBody(`nothing for ${stallMs} ms`)), stallMs);
  return Promise.race([read, stall.promise]).finally(() => clearTimeout(timer));
}

/** An upstream that keeps a connection open and sends nothing more. */
class StalledBody extends Error {
  override readonly name = "StalledBody";
}

/** What the reader's stream ends with. The server prints it, so it says nothing of the upstream's, on one line. */
class BrokenAnswer extends Error {
  override readonly name = "BrokenAnswer";

  constructor() {
    super("an answer broke off");
    this.stack = `${this.name}: ${this.message}`;
  }
}
