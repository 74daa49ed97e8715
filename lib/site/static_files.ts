import { CODINGS, preferredCoding } from "@/lib/http/header_values.ts";
import { notFound } from "@/lib/http/errors.ts";
import { type Handler, type RequestContext, SANDBOX_POLICY } from "@/lib/http/request_context.ts";
import { hasHeadPolicy, MAX_VIEWER_BYTES, pagePolicy, viewerPolicy } from "./policies.ts";
import { openStaticFile, type StaticFile } from "./static_file.ts";
import { percentDecoded } from "@/lib/std/text.ts";

/** Bytes of an HTML document in which its head is looked for. */
const MAX_HEAD_BYTES = 64 * 1024;
/** A hashed name never stands for other content. */
const FOR_EVER = "public, max-age=31536000, immutable";
/** An operator's own manifest viewer in the folder of further files. */
const VIEWER_FILE = /^uv(\.html)?$/;
const HASHED_NAME = /-[A-Z0-9]{8}\.\w+$/;

interface StaticFilesOptions {
  readonly folder: string;
  /** The first part of all addresses of the folder; "/" for the whole site. */
  readonly prefix: string;
  /** The files of the build: names may carry a hash of the content, and compressed forms lie beside them. */
  readonly isBuild?: boolean;
  readonly resultsUrl: (request: Request) => string;
  /** The page in place of the plain 404, for clients that accept one. */
  readonly missing?: Handler;
}

/**
 * The files of a folder. A page without extension is found as `<path>.html`; a document with a policy in its head is one
 * of our app's pages, any other may do nothing (spec, Response headers).
 */
export function staticFiles({ folder, prefix, isBuild = false, resultsUrl, missing }: StaticFilesOptions) {
  return async function staticFiles(context: RequestContext): Promise<Response> {
    const path = context.target.path.slice(prefix.length);
    const coding = isBuild ? preferredCoding(context.header("Accept-Encoding"), CODINGS) : null;
    const file = await openStaticFile(folder, path, coding);
    if (!file) {
      if (missing && wantsPage(context)) return await missing(context);
      throw notFound();
    }
    const headers = new Headers({
      "Cache-Control": isBuild && HASHED_NAME.test(path) ? FOR_EVER : "no-cache",
      ...(isBuild && { Vary: "Accept-Encoding" }),
    });
    // The file counts, however its name is written in the address.
    const isViewer = !isBuild && VIEWER_FILE.test(percentDecoded(path) ?? "");
    return await fileResponse(
      context,
      file,
      headers,
      () => isViewer ? viewerFilePolicy(file) : policyOf(file, () => resultsUrl(context.request)),
    );
  };
}

/**
 * An open file as the response to a request, or 304 where the client has it. Closes the file.
 *
 * @param headers what the response has beside those of the file
 * @param policy the content security policy; null: the default policy of all responses applies
 */
export async function fileResponse(
  context: RequestContext,
  file: StaticFile,
  headers: Headers,
  policy: () => Promise<string | null>,
): Promise<Response> {
  context.operation = "static";
  try {
    context.mustRead();
    headers.set("ETag", file.etag);
    headers.set("Last-Modified", file.modified.toUTCString());
    const text = await policy();
    if (text !== null) headers.set("Content-Security-Policy", text);
    if (isKnown(context.header("If-None-Match"), file.etag)) {
      file.close();
      return new Response(null, { status: 304, headers });
    }
    headers.set("Content-Type", file.type);
    headers.set("Content-Length", String(file.size));
    if (file.coding !== null) headers.set("Content-Encoding", file.coding);
    if (context.method === "HEAD") {
      file.close();
      return new Response(null, { headers });
    }
    return new Response(file.stream(), { headers });
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Programs read the API and the results, and get JSON there whatever they say they accept. */
function wantsPage(context: RequestContext): boolean {
  const { method, target } = context;
  const isRead = method === "GET" || method === "HEAD";
  return isRead && !/^\/(?:api|results)(?:\/|$)/.test(target.path) &&
    /\btext\/html\b/i.test(context.header("Accept") ?? "");
}

/** The policy of an operator's own manifest viewer. */
export async function viewerFilePolicy(file: StaticFile): Promise<string> {
  return file.size > MAX_VIEWER_BYTES ? SANDBOX_POLICY : viewerPolicy(await file.beginning(MAX_VIEWER_BYTES));
}

/** null: the default policy of all responses applies. */
async function policyOf(file: StaticFile, resultsUrl: () => string): Promise<string | null> {
  if (!file.isDocument) return null;
  const isPage = file.type.startsWith("text/html") && hasHeadPolicy(await file.beginning(MAX_HEAD_BYTES));
  return isPage ? pagePolicy(resultsUrl()) : SANDBOX_POLICY;
}

/** RFC 9110 §13.1.2: weak comparison, a list or `*`. */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  const known = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known.includes("*") || known.includes(etag.replace(/^W\//, ""));
}
