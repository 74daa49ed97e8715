/**
 * The address by which a page may read a file. A browser blocks addresses of http on a page of https, except for those of
 * this machine (W3C Mixed Content), so https is tried in their place.
 *
 * @param address absolute
 * @param page address of the page
 * @returns the address itself where the browser does not block it
 */
export function securedAddress(address: string, page = globalThis.location?.href ?? ""): string {
  if (!page.startsWith("https:") || !/^http:/i.test(address)) return address;
  const url = URL.parse(address);
  if (url === null || LOOPBACK.test(url.hostname)) return address;
  url.protocol = "https:";
  return url.href;
}

const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.*\.)?localhost)$/;
