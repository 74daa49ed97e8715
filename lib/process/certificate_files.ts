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

/** The certificate in two files that others replace while the server runs. */
export class CertificateFiles {
  readonly #paths: CertificatePaths;
  #seen: string | null = null;

  constructor(paths: CertificatePaths) {
    this.#paths = paths;
  }

  /**
   * The certificate, and its files are taken as seen.
   *
   * @throws {Error} of the runtime when a file cannot be read
   */
  read(): Certificate {
    const { certFile, keyFile } = this.#paths;
    // Before the files are read: a replacement in between is noticed by the next check.
    this.#seen = this.#identity();
    return { cert: Deno.readTextFileSync(certFile), key: Deno.readTextFileSync(keyFile) };
  }

  /** Whether a file was replaced or edited since {@link read}; one that is missing counts as a replacement under way. */
  hasChanged(): boolean {
    const identity = this.#identity();
    return identity !== null && identity !== this.#seen;
  }

  #identity(): string | null {
    try {
      return [this.#paths.certFile, this.#paths.keyFile].map((path) => fileIdentity(Deno.statSync(path))).join();
    } catch {
      return null;
    }
  }
}
