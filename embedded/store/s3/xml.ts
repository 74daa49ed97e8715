import { BrokenBody } from "@/embedded/store/bodies.ts";
import { isNoSpace, StoreError } from "@/embedded/store/store_error.ts";
import { ChunksTooSmall, SlowBody } from "@/lib/std/body_reader.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { XmlScanner } from "@/lib/std/xml_scanner.ts";

/** Whether XML 1.0 can hold a text: all but most control characters and two that are no characters (section 2.2). */
export function fitsXml(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text);
}

/** Text for an XML element or attribute. Characters that XML cannot hold become U+FFFD. */
function escapeXml(text: string): string {
  return text.replace(
    // deno-lint-ignore no-control-regex
    /[&<>"\r]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
    (character) => ESCAPES[character] ?? "\ufffd",
  );
}

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;" };

/** An XML response of the S3 protocol. */
export function xmlResponse(root: string, content: string, headers: Record<string, string> = {}): Response {
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`,
    { headers: { ...headers, "content-type": "application/xml" } },
  );
}

/** One element with text. */
export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

/**
 * An instant as S3's XML spells it: ISO 8601 in UTC, in whole seconds like Last-Modified. Clients that compare the two
 * would otherwise copy an object again and again.
 */
export function xmlTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -"000Z".length)}000Z`;
}

/** Largest XML body of a request, in bytes: the 10,000 parts of a complete with their checksums fit. */
export const MAX_XML_BYTES = 2 * 1024 * 1024;

/** Deepest nesting of elements; S3's own documents need five levels. */
const MAX_DEPTH = 16;

/** Most elements: the 10,000 parts of a complete, with five of them in each, fit. */
const MAX_ELEMENTS = 100_000;

/** One element: its local name, the text directly in it, and the elements in it in their order. */
export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

/**
 * Reads an XML document of elements and text in UTF-8. Attributes are ignored. Type declarations, processing
 * instructions, comments, CDATA and entities other than XML's own five are rejected, so that no document can expand.
 * So are characters that XML 1.0 excludes, plain or as references: a response could not repeat them.
 *
 * @returns its root element
 * @throws {StoreError} MalformedXML
 */
export function readXml(bytes: Uint8Array): XmlElement {
  if (bytes.length > MAX_XML_BYTES) throw new StoreError("MalformedXML", "The XML is longer than 2 MiB");
  const text = decodedText(bytes).replace(DECLARATION, "");
  // Comments, CDATA and type declarations start with "<!".
  if (!fitsXml(text) || text.includes("<!")) throw malformed();
  const document: XmlElement = { name: "", text: "", children: [] };
  const open = [document];
  const scanner = new XmlScanner(text);
  for (let elements = 0;;) {
    const parent = open[open.length - 1];
    const token = scanner.next();
    if (token === "end") return document.children[0];
    if (token === "close") open.pop();
    else if (token === "text" && fitsXml(scanner.text)) parent.text += scanner.text;
    else if (token !== "open") throw malformed();
    else {
      if (++elements > MAX_ELEMENTS) throw new StoreError("MalformedXML", "The XML has too many elements");
      if (open.length > MAX_DEPTH) throw new StoreError("MalformedXML", `The XML is deeper than ${MAX_DEPTH} levels`);
      const element: XmlElement = { name: scanner.name, text: "", children: [] };
      parent.children.push(element);
      open.push(element);
    }
  }
}

/**
 * The text of the one child of a name, as it stands: for keys and the like. Null where there is none.
 *
 * @throws {StoreError} MalformedXML for several, or for one that is no text
 */
export function childText(element: XmlElement, name: string): string | null {
  let found: XmlElement | null = null;
  for (const child of element.children) {
    if (child.name !== name) continue;
    if (found || child.children.length > 0) throw new StoreError("MalformedXML", `${name} must be one text`);
    found = child;
  }
  return found?.text ?? null;
}

/** The same without the white space around it, which some clients write: for words, numbers and digests. */
export function childWord(element: XmlElement, name: string): string | null {
  return childText(element, name)?.trim() ?? null;
}

const DECLARATION = /^\s*<\?xml\s[^<>?]*\?>/;

function decodedText(bytes: Uint8Array): string {
  try {
    // A line end is one character, however it was written (XML 1.0, section 2.11).
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r\n?/g, "\n");
  } catch {
    throw malformed();
  }
}

function malformed(): StoreError {
  return new StoreError("MalformedXML");
}

/** Translates what an operation threw into S3's errors; an unexpected error is logged and becomes InternalError. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof BrokenBody) return new StoreError("IncompleteBody");
  if (error instanceof SlowBody) return new StoreError("RequestTimeout");
  if (error instanceof ChunksTooSmall) return new StoreError("InvalidRequest", `The body: ${error.message}`);
  if (isNoSpace(error)) return new StoreError("OutOfSpace");
  console.error(`embedded store: ${error instanceof Error ? error.stack ?? error.message : error}`);
  return new StoreError("InternalError");
}

/** The response to an error: S3's XML, or no body where HTTP forbids one. */
export function s3ErrorResponse(
  error: StoreError,
  request: { method: string; id: string; resource: string },
): Response {
  const headers = new Headers({ ...error.headers, "x-amz-request-id": request.id });
  if (request.method === "HEAD" || error.status === 304) return new Response(null, { status: error.status, headers });
  headers.set("content-type", "application/xml");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${error.sentCode}</Code>` +
    `<Message>${escapeXml(error.message)}</Message>${nameElement(error, request.resource)}` +
    `<Resource>${escapeXml(request.resource)}</Resource>` +
    `<RequestId>${request.id}</RequestId><HostId>stackroom</HostId></Error>`;
  return new Response(body, { status: error.status, headers });
}

/** The element that names the bucket, or the key where the request has one and the bucket exists. */
function nameElement(error: StoreError, resource: string): string {
  const path = percentDecoded(resource.slice(1));
  if (path === null) return "";
  const [bucket, key] = bucketAndKey(path);
  if (bucket === "") return "";
  if (key !== "" && error.code !== "NoSuchBucket") return `<Key>${escapeXml(key)}</Key>`;
  return `<BucketName>${escapeXml(bucket)}</BucketName>`;
}

/** The bucket and the key of a decoded path without its first slash; "" where it has none. */
export function bucketAndKey(path: string): [bucket: string, key: string] {
  const slash = path.indexOf("/");
  return slash < 0 ? [path, ""] : [path.slice(0, slash), path.slice(slash + 1)];
}
