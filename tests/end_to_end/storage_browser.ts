import assert from "node:assert/strict";

/** A browser without scripts: it holds cookies and sends what browsers send with them. */
export class StorageBrowser {
  readonly #site: string;
  readonly #cookies = new Map<string, string>();

  /** @param site with its trailing slash */
  constructor(site: string) {
    this.#site = site;
  }

  /** The cookies that it holds, by name. */
  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  /** Sends a request with its cookies as a page of the site would, and takes the cookies of the response. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const method = init.method ?? "GET";
    if (!headers.has("Sec-Fetch-Site")) headers.set("Sec-Fetch-Site", "same-origin");
    if (method !== "GET" && method !== "HEAD" && !headers.has("Origin")) {
      headers.set("Origin", new URL(this.#site).origin);
    }
    if (!headers.has("Cookie")) {
      headers.set(
        "Cookie",
        [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      );
    }
    const response = await fetch(new URL(path, this.#site), { ...init, headers, redirect: "manual" });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair] = cookie.split(";", 1);
      const name = pair.slice(0, pair.indexOf("="));
      if (/; Max-Age=0\b/.test(cookie)) this.#cookies.delete(name);
      else this.#cookies.set(name, pair.slice(name.length + 1));
    }
    return response;
  }

  /** Sends the form of the login page. @returns where it leads */
  async logIn(username: string, password = "stackroom-demo", next = "/"): Promise<string> {
    return await this.#form("/login", { username, password, next });
  }

  /** Sends the form of the logout: of all, or of one account of the storage. @returns where it leads */
  async logOut(account?: string): Promise<string> {
    return await this.#form("/logout", account === undefined ? {} : { account });
  }

  /** A page's status and HTML. */
  async page(path: string): Promise<{ readonly status: number; readonly html: string; readonly headers: Headers }> {
    const response = await this.fetch(path, { headers: { Accept: "text/html" } });
    return { status: response.status, html: await response.text(), headers: response.headers };
  }

  async #form(path: string, fields: Record<string, string>): Promise<string> {
    const response = await this.fetch(path, { method: "POST", body: new URLSearchParams(fields) });
    await response.body?.cancel();
    assert.equal(response.status, 303);
    return response.headers.get("Location") ?? "";
  }
}
