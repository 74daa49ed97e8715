import { fileIdentity } from "@/lib/std/file_identity.ts";

/** A certificate chain and its private key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Where a server's certificate chain and private key are, as PEM files. */
export interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Raised when a certificate and its key cannot be used; the message says why, without their content. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** The certificate in two files that others replace while the server runs. */
export class CertificateFiles {
  readonly #paths: CertificatePaths;
  /** The files of the last certificate that could be used. */
  #used: string | null = null;

  constructor(paths: CertificatePaths) {
    this.#paths = paths;
  }

  /** The certificate. @throws {CertificateError} when it cannot be read or used */
  read(): Certificate {
    const { certFile, keyFile } = this.#paths;
    try {
      // Before the files are read: a replacement in between is noticed by the next look.
      const identity = this.#identity();
      const certificate = { cert: Deno.readTextFileSync(certFile), key: Deno.readTextFileSync(keyFile) };
      tryOut(certificate);
      this.#used = identity;
      return certificate;
    } catch (error) {
      throw new CertificateError(error instanceof Error ? error.message : String(error));
    }
  }

  /** Whether the files are others than those that {@link read} last returned; false where one cannot be looked at. */
  hasChanged(): boolean {
    try {
      return this.#identity() !== this.#used;
    } catch {
      return false;
    }
  }

  #identity(): string {
    return [this.#paths.certFile, this.#paths.keyFile].map((path) => fileIdentity(Deno.statSync(path))).join();
  }
}

/** Opens a listener, since only that shows whether the runtime can use a certificate and its key. */
function tryOut(certificate: Certificate): void {
  Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...certificate }).close();
}
