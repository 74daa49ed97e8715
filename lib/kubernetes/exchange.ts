import { Buffer } from "node:buffer";
import { type Transfer, transfer, TransferError, type TransferLimits } from "./transfer.ts";

/** One HTTP request whose answer is wanted whole. */
type Exchange = Transfer;

export interface ExchangeLimits extends TransferLimits {
  /** Of the answer's body. */
  readonly maxBytes: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

export { TransferError as ExchangeError };

/**
 * Sends a request and reads its answer whole.
 *
 * @throws {TransferError} when a limit is passed, the signal aborts or the connection breaks
 */
export async function exchange(request: Exchange, limits: ExchangeLimits): Promise<Answer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const status = await transfer(request, limits, (chunk) => {
    length += chunk.length;
    if (length > limits.maxBytes) throw new TransferError(`the answer is longer than ${limits.maxBytes} bytes`);
    chunks.push(chunk);
  });
  return { status, body: Buffer.concat(chunks) };
}
