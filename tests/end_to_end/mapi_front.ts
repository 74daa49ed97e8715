import { readPorts } from "@/embedded/store/ports.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";

/** The management API of an embedded store as that of a store of one's own: over TLS, with one address for all tenants. */
export interface MapiFront extends AsyncDisposable {
  readonly port: number;
}

/** @param dataFolder of the embedded store */
export function mapiFront(dataFolder: string): MapiFront {
  const tls = { cert: TEST_CERTIFICATE, key: TEST_KEY };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {}, ...tls }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = request.body && await request.bytes();
    const ports = readPorts(`${dataFolder}/ports.json`);
    const tenant = /^\/mapi\/tenants\/([^/]+)/.exec(pathname)?.[1].toLowerCase();
    const send = (port: number) =>
      fetch(`http://127.0.0.1:${port}${pathname}${search}`, { method, headers, body, redirect: "manual" });
    // An account is of the tenant, or of the system level, which has a port of its own.
    const ofTenant = ports[`mapi ${tenant}`];
    if (ofTenant !== undefined) {
      const response = await send(ofTenant);
      if (response.status !== 401 && response.status !== 403) return response;
      const other = await send(ports.mapi);
      const [shown, left] = other.status === 401 || other.status === 403 ? [response, other] : [other, response];
      await left.body?.cancel();
      return shown;
    }
    return await send(ports.mapi);
  });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}
