/** A thread of this process, and the port for messages to it. */
export interface Thread {
  readonly port: MessagePort;
  /** Ends the thread at once. */
  terminate(): void;
}

/**
 * Starts a module as a thread; the module gets its port from {@link ownPort}.
 *
 * An error that the thread does not catch is reported to `onFault`.
 */
export function startThread(module: string, name: string, onFault: (message: string) => void): Thread {
  const worker = new Worker(module, { type: "module", name });
  const { port1, port2 } = new MessageChannel();
  worker.onerror = (event) => {
    event.preventDefault();
    onFault(event.message);
  };
  worker.postMessage(null, [port2]);
  return {
    port: port1,
    terminate() {
      port1.close();
      worker.terminate();
    },
  };
}

/** Inside a thread: the port to the thread that started it. */
export function ownPort(): Promise<MessagePort> {
  return new Promise((resolve) => {
    globalThis.addEventListener("message", (event) => {
      if (event instanceof MessageEvent) resolve(event.ports[0]);
    }, { once: true });
  });
}
