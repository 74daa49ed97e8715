import assert from "node:assert/strict";

import type { Manifest } from "@/lib/pages/iiif/manifest.ts";
import { type ReadManifest, readManifestInSteps } from "@/lib/pages/iiif/read_manifest.ts";
import { resultOf } from "@/tests/result_of.ts";

/** JSON of manifests for tests: the parts that the IIIF cookbook composes its recipes of. */
export type Node = Record<string, unknown>;

/** Reads a manifest at once. */
export function readManifest(json: unknown, url: string, languages: readonly string[] = []): ReadManifest {
  return resultOf(readManifestInSteps(json, url, languages));
}

/** The manifest of what can be read as one. */
export function manifestOf(json: unknown, languages?: readonly string[]): Manifest {
  const read = readManifest(json, BASE, languages);
  assert.ok(read.ok, JSON.stringify(read));
  return read.manifest;
}

export const BASE = "https://example.org/iiif/book/manifest.json";

/** Address of something that belongs to the manifest. */
export const at = (path: string) => `https://example.org/iiif/book/${path}`;

/** A manifest of Presentation 3. */
export function manifest3(items: readonly unknown[], more: Node = {}): Node {
  return {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    id: BASE,
    type: "Manifest",
    label: { en: ["A book"] },
    items,
    ...more,
  };
}

/** A canvas of Presentation 3 that `bodies` are painted on, each by an annotation of its own. */
export function canvas3(name: string, bodies: readonly unknown[], more: Node = {}): Node {
  const id = at(`canvas/${name}`);
  const items = bodies.map((body, i) => ({
    id: at(`annotation/${name}-${i}`),
    type: "Annotation",
    motivation: "painting",
    body,
    target: id,
  }));
  return {
    id,
    type: "Canvas",
    label: { en: [name] },
    width: 1000,
    height: 1500,
    items: [{ id: at(`page/${name}`), type: "AnnotationPage", items }],
    ...more,
  };
}

/** An image file as the body of an annotation. */
export function image3(name: string, more: Node = {}): Node {
  return { id: at(`${name}.jpg`), type: "Image", format: "image/jpeg", width: 2000, height: 3000, ...more };
}

/** An image with a service of version 3. */
export function served3(name: string, service: Node = {}): Node {
  const id = `https://images.example.org/${name}`;
  return image3(name, {
    id: `${id}/full/max/0/default.jpg`,
    service: [{ id, type: "ImageService3", profile: "level1", ...service }],
  });
}

/** Canvases `p1`, `p2` and so on, with an image each. */
export function pages3(count: number): Node[] {
  return Array.from({ length: count }, (_, i) => canvas3(`p${i + 1}`, [served3(`p${i + 1}`)]));
}

/** A manifest of Presentation 2 with one sequence. */
export function manifest2(canvases: readonly unknown[], more: Node = {}, sequence: Node = {}): Node {
  return {
    "@context": "http://iiif.io/api/presentation/2/context.json",
    "@id": BASE,
    "@type": "sc:Manifest",
    label: "A book",
    sequences: [{ "@id": at("sequence/normal"), "@type": "sc:Sequence", canvases, ...sequence }],
    ...more,
  };
}

/** A canvas of Presentation 2 that `resources` are painted on. */
export function canvas2(name: string, resources: readonly unknown[], more: Node = {}): Node {
  const id = at(`canvas/${name}`);
  return {
    "@id": id,
    "@type": "sc:Canvas",
    label: name,
    width: 1000,
    height: 1500,
    images: resources.map((resource) => ({ "@type": "oa:Annotation", motivation: "sc:painting", resource, on: id })),
    ...more,
  };
}

/** An image with a service of version 2. */
export function served2(name: string, service: Node = {}): Node {
  const id = `https://images.example.org/${name}`;
  return {
    "@id": `${id}/full/full/0/default.jpg`,
    "@type": "dctypes:Image",
    format: "image/jpeg",
    width: 2000,
    height: 3000,
    service: {
      "@context": "http://iiif.io/api/image/2/context.json",
      "@id": id,
      profile: "http://iiif.io/api/image/2/level2.json",
      ...service,
    },
  };
}
