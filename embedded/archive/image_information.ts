import { type ImageApi, MAX_IMAGE_AREA, MAX_IMAGE_HEIGHT, MAX_IMAGE_WIDTH } from "./image_request.ts";
import { PAGE_HEIGHT, PAGE_WIDTH } from "./page_layout.ts";
import { IMAGE_DIVISORS, imageServiceUrl, imageSize } from "./source_volumes.ts";

const TILE_SIDE = 512;

/** The compliance level of the image services. */
export const IMAGE_PROFILE = "level2";

/** The profile of the image services, as the address that a `Link` header names. */
export function profileUrl(api: ImageApi): string {
  return `http://iiif.io/api/image/${api}/${IMAGE_PROFILE}.json`;
}

/** The JSON-LD context of a version of the IIIF Image API. */
export function imageContext(api: ImageApi): string {
  return `http://iiif.io/api/image/${api}/context.json`;
}

/** What `info.json` says of a page, in a version of the IIIF Image API. */
export function imageInformation(archive: string, volume: string, page: number, api: ImageApi) {
  const id = imageServiceUrl(archive, volume, page, api);
  const limits = { maxWidth: MAX_IMAGE_WIDTH, maxHeight: MAX_IMAGE_HEIGHT, maxArea: MAX_IMAGE_AREA };
  const common = {
    protocol: "http://iiif.io/api/image",
    width: PAGE_WIDTH,
    height: PAGE_HEIGHT,
    sizes: [...IMAGE_DIVISORS].reverse().map(imageSize),
    tiles: [{ width: TILE_SIDE, height: TILE_SIDE, scaleFactors: IMAGE_DIVISORS }],
    // Palette images are smaller as png, and sharper. Not a property of 2.1, but viewers read it there, too.
    preferredFormats: ["png"],
  };
  if (api === 3) {
    return {
      "@context": imageContext(3),
      id,
      type: "ImageService3",
      profile: IMAGE_PROFILE,
      ...common,
      ...limits,
      extraQualities: ["color", "gray", "bitonal"],
      extraFeatures: ["sizeUpscaling", "canonicalLinkHeader", "profileLinkHeader"],
    };
  }
  return {
    "@context": imageContext(2),
    "@id": id,
    ...common,
    profile: [profileUrl(2), {
      formats: ["jpg", "png"],
      qualities: ["default", "color", "gray", "bitonal"],
      supports: ["regionSquare", "sizeAboveFull", "canonicalLinkHeader", "profileLinkHeader"],
      ...limits,
    }],
  };
}
