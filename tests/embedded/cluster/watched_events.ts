/** An event of a watch, as far as the tests look at it. */
export interface WatchedEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly reason?: string;
    readonly metadata: {
      readonly name: string;
      readonly resourceVersion: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly data?: Readonly<Record<string, string>>;
    readonly rows?: readonly { readonly cells: readonly string[] }[];
  };
}

/** Opens a watch; `next` waits for an event and returns null at the end of the stream. */
export async function openWatch(url: string, accept = "application/json") {
  const answer = await fetch(url, { headers: { accept } });
  if (!answer.ok || !answer.body) throw new Error(`${answer.status} ${await answer.text()}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    async next(): Promise<WatchedEvent | null> {
      while (!text.includes("\n")) {
        const { done, value } = await reader.read();
        if (done) return null;
        text += value;
      }
      const end = text.indexOf("\n");
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      return JSON.parse(line);
    },
    close: () => reader.cancel(),
  };
}
