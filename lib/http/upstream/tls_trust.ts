import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";

/** Options of node:https that say whose certificates are trusted. */
interface TlsTrust {
  readonly ca: string;
  readonly secureContext: SecureContext;
}

/**
 * Trusts the runtime's authorities and `more` (PEM), as `fetch` with `caCerts` does. node:https by itself replaces the
 * runtime's authorities by those that it is given.
 *
 * @param client certificate and key of the client, if it has any
 */
export function tlsTrust(more: readonly string[] = [], client: SecureContextOptions = {}): TlsTrust {
  const secureContext = createSecureContext({ ...client, ca: undefined });
  for (const pem of more) secureContext.context.addCACert(pem);
  // Where `ca` is missing and NODE_EXTRA_CA_CERTS is set, Deno 2.9 lists its authorities, for which it needs --allow-sys.
  return { ca: "", secureContext };
}
