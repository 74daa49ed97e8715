import { createHash, type Hash } from "node:crypto";
import { S3Error } from "./s3_error.ts";
import { isSignatureOf, signingKey, type StatedSignature } from "./sigv4.ts";

/**
 * Checks the signatures of the chunks of a body. Each covers the one before it, and the first covers that of the
 * request, so that chunks can be neither changed nor moved nor left out (Signature Version 4, "Transferring payload in
 * multiple chunks").
 */
export class ChunkSignatures {
  readonly #key: Uint8Array;
  readonly #time: string;
  readonly #scope: string;
  #previous: string;

  constructor({ scope, time, signature }: StatedSignature, secretKey: string) {
    this.#key = signingKey(scope, secretKey);
    this.#time = time;
    this.#scope = scope;
    this.#previous = signature;
  }

  /** Starts the digest of a chunk, for {@link requireChunk}. */
  startChunk(): Hash {
    return createHash("sha256");
  }

  /** @throws {S3Error} SignatureDoesNotMatch unless this is the signature of the next chunk */
  requireChunk(signature: string, bytes: Hash): void {
    this.#require(signature, "AWS4-HMAC-SHA256-PAYLOAD", [EMPTY_SHA256, bytes.digest("hex")]);
  }

  /** The same of the trailer, as its lines `name:value`, each with a line feed. */
  requireTrailer(signature: string, lines: string): void {
    this.#require(signature, "AWS4-HMAC-SHA256-TRAILER", [createHash("sha256").update(lines).digest("hex")]);
  }

  #require(signature: string, algorithm: string, digests: readonly string[]): void {
    const text = [algorithm, this.#time, this.#scope, this.#previous, ...digests].join("\n");
    if (!isSignatureOf(text, this.#key, signature)) {
      throw new S3Error("SignatureDoesNotMatch", "The signature of a chunk of the body does not match");
    }
    this.#previous = signature;
  }
}

const EMPTY_SHA256 = createHash("sha256").digest("hex");
