import assert from "node:assert/strict";

import type { AltoPage } from "@/lib/pages/alto/alto_page.ts";
import { readAltoInSteps } from "@/lib/pages/alto/read_alto.ts";
import { resultOf } from "@/tests/result_of.ts";

/** Reads a document at once. */
export const readAlto = (xml: string) => resultOf(readAltoInSteps(xml));

/** The page of a document that can be read. */
export function altoPage(xml: string): AltoPage {
  const reading = readAlto(xml);
  assert.ok(reading.ok, JSON.stringify(reading));
  return reading.page;
}

/** ALTO 2.0 in tenths of a millimetre: a word that a line break divides, spaces as elements, no confidence of the page. */
export const ALTO_2 = `<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v2#" xmlns:xlink="http://www.w3.org/1999/xlink">
  <Description>
    <MeasurementUnit>mm10</MeasurementUnit>
    <sourceImageInformation><fileName>0007.tif</fileName></sourceImageInformation>
  </Description>
  <Styles><TextStyle ID="TXT_0" FONTSIZE="10" FONTFAMILY="Times"/></Styles>
  <Layout>
    <Page ID="P7" PHYSICAL_IMG_NR="7" WIDTH="2100" HEIGHT="2970">
      <TopMargin HPOS="0" VPOS="0" WIDTH="2100" HEIGHT="100">
        <TextBlock ID="TB0" HPOS="1000" VPOS="40" WIDTH="100" HEIGHT="40">
          <TextLine ID="TL0" HPOS="1000" VPOS="40" WIDTH="100" HEIGHT="40">
            <String ID="S0" CONTENT="7" HPOS="1000" VPOS="40" WIDTH="100" HEIGHT="40" WC="0.5" CC="4"/>
          </TextLine>
        </TextBlock>
      </TopMargin>
      <PrintSpace HPOS="100" VPOS="100" WIDTH="1900" HEIGHT="2700">
        <TextBlock ID="TB1" HPOS="100" VPOS="100" WIDTH="1900" HEIGHT="90" STYLEREFS="TXT_0">
          <TextLine ID="TL1" HPOS="100" VPOS="100" WIDTH="1900" HEIGHT="40">
            <String CONTENT="Ödmjukt" HPOS="100" VPOS="100" WIDTH="400" HEIGHT="40" WC="1"/><SP WIDTH="20" HPOS="500" VPOS="100"/>
            <String CONTENT="memo" HPOS="520" VPOS="100" WIDTH="300" HEIGHT="40" SUBS_TYPE="HypPart1" SUBS_CONTENT="memorial" WC="0.8"/>
            <HYP CONTENT="-" WIDTH="20" HPOS="820" VPOS="100"/>
          </TextLine>
          <TextLine ID="TL2" HPOS="100" VPOS="150" WIDTH="1900" HEIGHT="40">
            <String CONTENT="rial" HPOS="100" VPOS="150" WIDTH="200" HEIGHT="40" SUBS_TYPE="HypPart2" SUBS_CONTENT="memorial" WC="0.6"/><SP/>
            <String CONTENT="d:o" HPOS="320" VPOS="150" WIDTH="100" HEIGHT="40" SUBS_TYPE="Abbreviation" SUBS_CONTENT="dito"/>
          </TextLine>
        </TextBlock>
      </PrintSpace>
    </Page>
  </Layout>
</alto>
`;

/** ALTO 3.1 with a prefix: a table of composed blocks, shapes, a rotated block, an empty line, glyphs that are no words. */
export const ALTO_3 = `<a:alto xmlns:a="http://www.loc.gov/standards/alto/ns-v3#">
  <a:Description><a:MeasurementUnit>inch1200</a:MeasurementUnit></a:Description>
  <a:Layout>
    <a:Page ID="P1" PHYSICAL_IMG_NR="1" WIDTH="800.5" HEIGHT="1200" PC="0.75">
      <a:PrintSpace>
        <a:ComposedBlock ID="table" TYPE="table" HPOS="0" VPOS="0" WIDTH="800" HEIGHT="300">
          <a:Shape><a:Polygon POINTS="0,0 800,0 800,300"/></a:Shape>
          <a:ComposedBlock ID="row" TYPE="row">
            <a:TextBlock ID="cell1" ROTATION="90"><a:Shape><a:Polygon POINTS="10,10 90,10 90,50 10,50"/></a:Shape>
              <a:TextLine ID="c1"><a:Shape><a:Polygon POINTS="10 12 90 12 90 40"/></a:Shape>
                <a:String CONTENT="Namn &amp; &quot;ort&quot;" WC="0.95"><a:Glyph CONTENT="N" GC="0.1"/><a:ALTERNATIVE>Nam</a:ALTERNATIVE></a:String>
              </a:TextLine>
            </a:TextBlock>
            <a:TextBlock ID="cell2">
              <a:TextLine ID="c2"><a:String CONTENT="12" HPOS="110" VPOS="10" WIDTH="20" HEIGHT="10"/><a:String CONTENT="kr" HPOS="140" VPOS="8" WIDTH="30" HEIGHT="20"/></a:TextLine>
              <a:TextLine ID="empty"><a:SP/><a:String CONTENT=" "/></a:TextLine>
            </a:TextBlock>
          </a:ComposedBlock>
        </a:ComposedBlock>
        <a:Illustration ID="picture" HPOS="0" VPOS="400" WIDTH="10" HEIGHT="10"/>
      </a:PrintSpace>
    </a:Page>
  </a:Layout>
</a:alto>
`;

/** ALTO 4.2 as text recognition of handwriting writes it: a line is one string, the base line has points. */
export const ALTO_4 = `<?xml version="1.0" encoding="UTF-8"?>
<!-- made for tests -->
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.loc.gov/standards/alto/ns-v4# http://www.loc.gov/standards/alto/v4/alto-4-2.xsd">
  <Description><MeasurementUnit>pixel</MeasurementUnit></Description>
  <Layout>
    <Page ID="page" WIDTH="2400" HEIGHT="3200" PHYSICAL_IMG_NR="3" PC="0.8731">
      <PrintSpace HPOS="0" VPOS="0" WIDTH="2400" HEIGHT="3200">
        <TextBlock ID="region_1" HPOS="100" VPOS="100" WIDTH="2000" HEIGHT="200">
          <TextLine ID="line_1" HPOS="100" VPOS="100" WIDTH="2000" HEIGHT="80" BASELINE="100,170 2100,172">
            <String CONTENT="Anno 1720 den 3 Maij" HPOS="100" VPOS="100" WIDTH="2000" HEIGHT="80" WC="0.91"/>
          </TextLine>
          <TextLine ID="line_2" HPOS="100" VPOS="200" WIDTH="2000" HEIGHT="80">
            <String CONTENT="hölts Laga Ting" HPOS="100" VPOS="200" WIDTH="2000" HEIGHT="80" WC="0.42"/>
          </TextLine>
        </TextBlock>
      </PrintSpace>
    </Page>
  </Layout>
</alto>
`;

/** ALTO 4.3: the document order is bottom up, the reading order top down, and says nothing of one block. */
export const ALTO_ORDERED = `<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">
  <ReadingOrder>
    <OrderedGroup ID="o1"><ElementRef ID="e1" REF="top"/><ElementRef ID="e2" REF="two-2 two-1"/><UnorderedGroup ID="o2" REF="around"/></OrderedGroup>
  </ReadingOrder>
  <Layout><Page ID="p" PHYSICAL_IMG_NR="1" ROTATION="-1.5"><PrintSpace>
    <TextBlock ID="unnamed"><TextLine ID="u"><String CONTENT="last"/></TextLine></TextBlock>
    <ComposedBlock ID="around"><TextBlock ID="inner"><TextLine ID="i"><String CONTENT="third"/></TextLine></TextBlock></ComposedBlock>
    <TextBlock ID="two">
      <TextLine ID="two-1"><String CONTENT="second, below"/></TextLine>
      <TextLine ID="two-0"><String CONTENT="second, unnamed"/></TextLine>
      <TextLine ID="two-2"><String CONTENT="second, above"/></TextLine>
    </TextBlock>
    <TextBlock ID="top"><TextLine ID="t"><String CONTENT="first"/></TextLine></TextBlock>
  </PrintSpace></Page></Layout>
</alto>
`;
