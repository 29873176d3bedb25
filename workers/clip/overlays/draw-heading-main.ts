import { drawHeading, type HeadingOrder } from './draw-heading.ts';

/**
 * The child process that draws a heading, with the fonts that its environment names and no others; its argument is
 * made by its parent.
 */
const order = JSON.parse(process.argv[2] ?? '{}') as HeadingOrder;
process.stdout.write(JSON.stringify(await drawHeading(order)));
