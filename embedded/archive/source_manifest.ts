import { PAGE_HEIGHT, PAGE_WIDTH } from "./page_layout.ts";
import {
  canvasUrl,
  IMAGE_DIVISORS,
  imageServiceUrl,
  imageSize,
  pageImageUrl,
  pageName,
  sourceManifestUrl,
  type SourceVolume,
  thumbnailUrl,
} from "./source_volumes.ts";

/** The manifest of a volume in the IIIF Presentation API (2.1 or 3.0) that the volume speaks. */
export function sourceManifest(archive: string, volume: SourceVolume): Record<string, unknown> {
  return volume.presentation === 3 ? presentation3(archive, volume) : presentation2(archive, volume);
}

/** A IIIF Image API 3.0 description at level 0: whole pages in a few fixed sizes. */
export function imageInformation(archive: string, volume: string, page: number): Record<string, unknown> {
  return {
    "@context": "http://iiif.io/api/image/3/context.json",
    id: imageServiceUrl(archive, volume, page),
    type: "ImageService3",
    protocol: "http://iiif.io/api/image",
    profile: "level0",
    width: PAGE_WIDTH,
    height: PAGE_HEIGHT,
    sizes: [...IMAGE_DIVISORS].reverse().map(imageSize),
    preferredFormats: ["png"],
    extraFormats: ["png"],
  };
}

function presentation3(archive: string, volume: SourceVolume): Record<string, unknown> {
  const id = sourceManifestUrl(archive, volume.id);
  return {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    id,
    type: "Manifest",
    label: { sv: [volume.title] },
    metadata: [{ label: { sv: ["Referenskod"] }, value: { none: [volume.id] } }],
    rights: "https://creativecommons.org/publicdomain/zero/1.0/",
    items: pagesOf(volume).map((page) => {
      const canvas = canvasUrl(archive, volume.id, page);
      return {
        id: canvas,
        type: "Canvas",
        label: { none: [pageName(page)] },
        width: PAGE_WIDTH,
        height: PAGE_HEIGHT,
        thumbnail: [{
          id: thumbnailUrl(archive, volume.id, page),
          type: "Image",
          format: "image/png",
          ...imageSize(9),
        }],
        items: [{
          id: `${canvas}/annotations`,
          type: "AnnotationPage",
          items: [{
            id: `${canvas}/annotations/image`,
            type: "Annotation",
            motivation: "painting",
            target: canvas,
            body: {
              id: pageImageUrl(archive, volume.id, page),
              type: "Image",
              format: "image/png",
              width: PAGE_WIDTH,
              height: PAGE_HEIGHT,
              service: [{
                id: imageServiceUrl(archive, volume.id, page),
                type: "ImageService3",
                profile: "level0",
              }],
            },
          }],
        }],
      };
    }),
  };
}

function presentation2(archive: string, volume: SourceVolume): Record<string, unknown> {
  const id = sourceManifestUrl(archive, volume.id);
  return {
    "@context": "http://iiif.io/api/presentation/2/context.json",
    "@id": id,
    "@type": "sc:Manifest",
    label: volume.title,
    metadata: [{ label: "Referenskod", value: volume.id }],
    license: "https://creativecommons.org/publicdomain/zero/1.0/",
    sequences: [{
      "@id": `${id.slice(0, -"manifest.json".length)}sequence/normal`,
      "@type": "sc:Sequence",
      canvases: pagesOf(volume).map((page) => {
        const canvas = canvasUrl(archive, volume.id, page);
        return {
          "@id": canvas,
          "@type": "sc:Canvas",
          label: pageName(page),
          width: PAGE_WIDTH,
          height: PAGE_HEIGHT,
          thumbnail: { "@id": thumbnailUrl(archive, volume.id, page), "@type": "dctypes:Image", format: "image/png" },
          images: [{
            "@id": `${canvas}/annotations/image`,
            "@type": "oa:Annotation",
            motivation: "sc:painting",
            on: canvas,
            resource: {
              "@id": pageImageUrl(archive, volume.id, page),
              "@type": "dctypes:Image",
              format: "image/png",
              width: PAGE_WIDTH,
              height: PAGE_HEIGHT,
            },
          }],
        };
      }),
    }],
  };
}

function pagesOf(volume: SourceVolume): number[] {
  return Array.from({ length: volume.pages }, (_, index) => index + 1);
}
