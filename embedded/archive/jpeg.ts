import type { IndexedImage } from "./page_canvas.ts";

/** Samples along a side of a block. */
const SIDE = 8;
const SAMPLES = SIDE * SIDE;

/**
 * A baseline JPEG file in JFIF form (ITU-T T.81, T.871) of a palette image: one component for grey images, else luminance
 * and two colour differences at full resolution. One set of tables serves all components.
 *
 * @param palette red, green and blue of each index
 */
export function paletteJpeg(image: IndexedImage, palette: Uint8Array, isGrey: boolean): Uint8Array<ArrayBuffer> {
  const components = componentsOf(palette).slice(0, isGrey ? 1 : 3);
  const output = new Output();
  output.header(image, components.length);
  const differences = components.map(() => 0);
  for (let y = 0; y < image.height; y += SIDE) {
    for (let x = 0; x < image.width; x += SIDE) {
      for (const [at, values] of components.entries()) {
        const block = quantized(samplesAt(image, values, x, y));
        output.block(block, block[0] - differences[at]);
        differences[at] = block[0];
      }
    }
  }
  return output.end();
}

/** Luminance and colour differences of each index, each around 0. */
function componentsOf(palette: Uint8Array): readonly Float64Array[] {
  const [y, cb, cr] = [0, 1, 2].map(() => new Float64Array(palette.length / 3));
  for (let index = 0; index < y.length; index++) {
    const [red, green, blue] = palette.subarray(index * 3, index * 3 + 3);
    const luminance = 0.299 * red + 0.587 * green + 0.114 * blue;
    y[index] = luminance - 128;
    cb[index] = (blue - luminance) / 1.772;
    cr[index] = (red - luminance) / 1.402;
  }
  return [y, cb, cr];
}

/** The samples of a block; beyond the edges of the image its last row and column repeat. */
function samplesAt({ width, height, pixels }: IndexedImage, values: Float64Array, left: number, top: number) {
  const samples = new Float64Array(SAMPLES);
  for (let y = 0, to = 0; y < SIDE; y++) {
    const row = Math.min(top + y, height - 1) * width;
    for (let x = 0; x < SIDE; x++) samples[to++] = values[pixels[row + Math.min(left + x, width - 1)]];
  }
  return samples;
}

/** Of each frequency, the cosine at each sample with the factor of the transform, which is its own inverse transposed. */
const COSINES = Float64Array.from({ length: SAMPLES }, (_, at) => {
  const [frequency, sample] = [Math.floor(at / SIDE), at % SIDE];
  return (frequency === 0 ? Math.SQRT1_2 : 1) / 2 * Math.cos((2 * sample + 1) * frequency * Math.PI / (2 * SIDE));
});

/** By place in the order of a file, the place of a coefficient in its block. */
const ZIGZAG: readonly number[] = [
  [
    0,
    1,
    8,
    16,
    9,
    2,
    3,
    10,
    17,
    24,
    32,
    25,
    18,
    11,
    4,
    5,
    12,
    19,
    26,
    33,
    40,
    48,
    41,
    34,
    27,
    20,
    13,
    6,
    7,
    14,
    21,
    28,
  ],
  [35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47],
  [55, 62, 63],
].flat();

/** The divisor of each coefficient by its place in a file: table K.1 for luminance, at a quality of 85 of 100. */
const DIVISORS: readonly number[] = [
  [5, 3, 4, 4, 4, 3, 5, 4, 4, 4, 5, 5, 5, 6, 7, 12, 8, 7, 7, 7, 7, 15, 11, 11, 9, 12, 17, 15, 18, 18, 17, 15],
  [17, 17, 19, 22, 28, 23, 19, 20, 26, 21, 17, 17, 24, 33, 24, 26, 29, 29, 31, 31, 31, 19, 23, 34, 36, 34, 30, 36],
  [28, 30, 31, 30],
].flat();

/** The cosine transform of a block, quantized, in the order of a file. */
function quantized(samples: Float64Array): Int32Array {
  const rows = transformed(samples);
  const coefficients = transformed(rows);
  return Int32Array.from(ZIGZAG, (place, at) => Math.round(coefficients[place] / DIVISORS[at]));
}

/** Transforms each row and transposes the block, so that a second time transforms the columns and puts it upright. */
function transformed(block: Float64Array): Float64Array {
  const result = new Float64Array(SAMPLES);
  for (let row = 0; row < SAMPLES; row += SIDE) {
    for (let frequency = 0; frequency < SIDE; frequency++) {
      let sum = 0;
      for (let at = 0; at < SIDE; at++) sum += block[row + at] * COSINES[frequency * SIDE + at];
      result[frequency * SIDE + row / SIDE] = sum;
    }
  }
  return result;
}

/** A table of Huffman codes as a file has it: how many codes there are of each length from 1 bit on, and what they mean. */
interface HuffmanTable {
  readonly counts: readonly number[];
  readonly values: readonly number[];
}

interface Code {
  readonly bits: number;
  readonly length: number;
}

/** Table K.3: by the value, the bits of a difference between first coefficients. */
const FIRST: HuffmanTable = {
  counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
  values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
};

/** Table K.5: by the value, zeros before a coefficient (upper four bits) and the bits of it (lower four). */
const FURTHER: HuffmanTable = {
  counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125],
  values: bytes(
    "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738" +
      "393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5" +
      "a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa",
  ),
};

const FIRST_CODES = codesOf(FIRST);
const FURTHER_CODES = codesOf(FURTHER);
/** The rest of the block is zero; sixteen zeros. */
const END_OF_BLOCK = FURTHER_CODES[0x00];
const SIXTEEN_ZEROS = FURTHER_CODES[0xf0];

function bytes(hexadecimal: string): readonly number[] {
  return Array.from({ length: hexadecimal.length / 2 }, (_, at) => parseInt(hexadecimal.slice(at * 2, at * 2 + 2), 16));
}

/** The codes of a table by their values (annex C). */
function codesOf({ counts, values }: HuffmanTable): readonly Code[] {
  const codes: Code[] = [];
  let bits = 0;
  let at = 0;
  for (const [index, count] of counts.entries()) {
    for (let n = 0; n < count; n++) codes[values[at++]] = { bits: bits++, length: index + 1 };
    bits <<= 1;
  }
  return codes;
}

/** No block has more bytes: each of its coefficients has at most a code of 16 bits and 11 bits of its own, escaped. */
const MAX_BLOCK_BYTES = SAMPLES * 8;

/** The bytes of a file. */
class Output {
  #bytes = new Uint8Array(1 << 16);
  #length = 0;
  /** Bits that fill no byte yet. */
  #bits = 0;
  #count = 0;

  header({ width, height }: IndexedImage, components: number): void {
    const numbers = Array.from({ length: components }, (_, at) => at + 1);
    this.#segment(0xd8);
    this.#segment(0xe0, [...new TextEncoder().encode("JFIF\0"), 1, 1, 0, 0, 1, 0, 1, 0, 0]);
    this.#segment(0xdb, [0, ...DIVISORS]);
    const frame = numbers.flatMap((number) => [number, 0x11, 0]);
    this.#segment(0xc0, [8, height >> 8, height & 255, width >> 8, width & 255, components, ...frame]);
    this.#segment(0xc4, [0x00, ...FIRST.counts, ...FIRST.values, 0x10, ...FURTHER.counts, ...FURTHER.values]);
    this.#segment(0xda, [components, ...numbers.flatMap((number) => [number, 0]), 0, SAMPLES - 1, 0]);
  }

  /** @param difference of the first coefficient to that of the component's block before */
  block(coefficients: Int32Array, difference: number): void {
    this.#reserve(MAX_BLOCK_BYTES);
    this.#value(FIRST_CODES, 0, difference);
    let zeros = 0;
    for (const coefficient of coefficients.subarray(1)) {
      if (coefficient === 0) {
        zeros++;
        continue;
      }
      for (; zeros > 15; zeros -= 16) this.#put(SIXTEEN_ZEROS);
      this.#value(FURTHER_CODES, zeros << 4, coefficient);
      zeros = 0;
    }
    if (zeros > 0) this.#put(END_OF_BLOCK);
  }

  /** @returns the whole file */
  end(): Uint8Array<ArrayBuffer> {
    // Ones fill the last byte.
    this.#put({ bits: 127, length: 7 });
    this.#reserve(2);
    this.#bytes.set([0xff, 0xd9], this.#length);
    return this.#bytes.slice(0, this.#length + 2);
  }

  /** A marker, with the bytes that belong to it. */
  #segment(marker: number, content?: readonly number[]): void {
    const length = content ? content.length + 2 : 0;
    const whole = [0xff, marker, ...(content ? [length >> 8, length & 255, ...content] : [])];
    this.#reserve(whole.length);
    this.#bytes.set(whole, this.#length);
    this.#length += whole.length;
  }

  /** A number: the code of its length in bits, then its bits, those of a negative one inverted (annex F.1.2.1). */
  #value(codes: readonly Code[], prefix: number, value: number): void {
    const length = 32 - Math.clz32(Math.abs(value));
    this.#put(codes[prefix | length]);
    this.#put({ bits: (value < 0 ? value - 1 : value) & (1 << length) - 1, length });
  }

  #put({ bits, length }: Code): void {
    this.#bits = this.#bits << length | bits;
    this.#count += length;
    while (this.#count >= 8) {
      this.#count -= 8;
      const byte = this.#bits >>> this.#count & 255;
      this.#bytes[this.#length++] = byte;
      // A marker begins with 255, so that one of data is followed by 0.
      if (byte === 255) this.#bytes[this.#length++] = 0;
    }
    this.#bits &= 255;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(this.#bytes.length * 2);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
