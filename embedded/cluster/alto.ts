import type { Box, PageLayout } from "@/embedded/archive/page_layout.ts";

type Block = PageLayout["blocks"][number];
type Line = Block["lines"][number];
type Word = Line["words"][number];

/** A page as ALTO 4 (Library of Congress schema 4.4), in pixels; `quality` (0..1) becomes the page's `PC`. */
export function altoXml(layout: PageLayout, name: string, physicalPage: number, quality: number | null): string {
  const { width, height, blocks } = layout;
  const pc = quality === null ? "" : ` PC="${quality}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">
  <Description>
    <MeasurementUnit>pixel</MeasurementUnit>
    <sourceImageInformation><fileName>${escaped(name)}.png</fileName></sourceImageInformation>
  </Description>
  <Layout>
    <Page ID="page_${physicalPage}" PHYSICAL_IMG_NR="${physicalPage}" WIDTH="${width}" HEIGHT="${height}"${pc}>
      <PrintSpace HPOS="0" VPOS="0" WIDTH="${width}" HEIGHT="${height}">
${blocks.map(textBlock).join("\n")}
      </PrintSpace>
    </Page>
  </Layout>
</alto>
`;
}

function textBlock(block: Block, index: number): string {
  const id = index + 1;
  return `        <TextBlock ID="block_${id}" ${box(block)}>
${block.lines.map((line, at) => textLine(line, `${id}_${at + 1}`)).join("\n")}
        </TextBlock>`;
}

function textLine(line: Line, id: string): string {
  return `          <TextLine ID="line_${id}" ${box(line)}>${line.words.map(string).join("<SP/>")}</TextLine>`;
}

function string({ text, confidence, divided, hyphen, ...place }: Word): string {
  const whole = divided ? ` SUBS_TYPE="HypPart${divided.part}" SUBS_CONTENT="${escaped(divided.whole)}"` : "";
  const wc = confidence === null ? "" : ` WC="${confidence.toFixed(2)}"`;
  const hyp = hyphen ? `<HYP ${box(hyphen)} CONTENT="-"/>` : "";
  return `<String CONTENT="${escaped(text)}" ${box(place)}${wc}${whole}/>${hyp}`;
}

function box({ x, y, width, height }: Box): string {
  return `HPOS="${x}" VPOS="${y}" WIDTH="${width}" HEIGHT="${height}"`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
