import { altoAmong, linksOf } from "./links.ts";
import { addressOf, extentOf, idOf, type Json, listOf, objectsOf, type Reading, typeOf, wordOf } from "./json.ts";
import { imageSourcesOf } from "./image_source.ts";
import { LIMITS } from "./limits.ts";
import { type AnnotationPage, type Behavior, BEHAVIORS, type Canvas, type Reference } from "./manifest.ts";
import { paintingsOf } from "./painted_images.ts";
import { labelOf, metadataOf, textOf } from "./text.ts";
import { requiredStatementOf, rightsOf } from "./rights.ts";
import { isObject } from "@/lib/std/untrusted.ts";

/**
 * Reads a canvas. Anything else gives an empty one that is not readable.
 *
 * @param number what the canvas is called without a label
 */
export function canvasOf(value: unknown, number: string, reading: Reading): Canvas {
  if (isObject(value) && /^(?:Canvas)?$/.test(typeOf(value))) return readCanvas(value, number, reading, true);
  return { ...readCanvas({ id: idOf(value) }, number, reading, false), isReadable: false };
}

function readCanvas(node: Json, number: string, reading: Reading, isOuter: boolean): Canvas {
  const width = extentOf(node.width);
  const height = extentOf(node.height);
  const { images, otherMedia } = paintingsOf(node, { width: width ?? undefined, height: height ?? undefined }, reading);
  const seeAlso = linksOf(node.seeAlso, reading);
  const renderings = linksOf(node.rendering, reading);
  const pages = listOf(node.annotations, LIMITS.annotationPages);
  return {
    id: idOf(node),
    isReadable: true,
    label: labelOf(node.label, reading) ?? number,
    summary: textOf(node.summary, reading),
    width,
    height,
    behaviors: behaviorsOf(node),
    images,
    otherMedia,
    thumbnails: imageSourcesOf(node.thumbnail, reading),
    placeholder: isOuter ? innerCanvas(node.placeholderCanvas, number, reading) : null,
    accompanying: isOuter ? innerCanvas(node.accompanyingCanvas, number, reading) : null,
    altoSources: altoAmong([...seeAlso, ...renderings, ...supplementsOf(pages, reading)]),
    annotationPages: pages.flatMap((page) => annotationPageOf(page, reading) ?? []),
    metadata: metadataOf(node.metadata, reading),
    rights: rightsOf(node, reading),
    requiredStatement: requiredStatementOf(node, reading),
    navDate: typeof node.navDate === "string" ? node.navDate.slice(0, 100) : null,
    homepages: linksOf(node.homepage, reading),
    renderings,
    seeAlso,
  };
}

/** A canvas within a canvas; one within that is not read. */
function innerCanvas(value: unknown, number: string, reading: Reading): Canvas | null {
  return isObject(value) ? readCanvas(value, number, reading, false) : null;
}

/** The known behaviors of a resource, each once. */
export function behaviorsOf({ behavior }: Json): readonly Behavior[] {
  if (behavior === undefined) return [];
  const stated = new Set(listOf(behavior, LIMITS.words).map(wordOf));
  return BEHAVIORS.filter((behavior) => stated.has(behavior));
}

/** Files that embedded annotations name as a supplement to the canvas. */
function supplementsOf(pages: readonly unknown[], reading: Reading): readonly Reference[] {
  return objectsOf(pages, LIMITS.annotationPages).flatMap((page) =>
    objectsOf(page.items, LIMITS.annotations).flatMap((annotation) => {
      const bodies = objectsOf(annotation.body, LIMITS.supplements);
      return linksOf(bodies.filter((body) => body.format !== undefined || body.profile !== undefined), reading);
    })
  );
}

function annotationPageOf(page: unknown, reading: Reading): AnnotationPage | null {
  const node: Json = isObject(page) ? page : { id: page };
  const embedded = objectsOf(node.items, LIMITS.annotations).length;
  const href = addressOf(node, reading);
  return href === null && embedded === 0 ? null : { label: labelOf(node.label, reading) ?? "", href, embedded };
}
