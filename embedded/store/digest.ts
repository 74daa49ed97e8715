/** A digest of bytes that arrive in parts. */
export interface Digest {
  update(part: Uint8Array): void;
  /** Hexadecimal, in lower case. */
  hex(): string;
}
