/** The interface's colors as they are drawn: vivid, and clear of the outline that stands around each. */
const colors: Readonly<Record<string, string>> = {
  white: '#ffffff',
  black: '#101010',
  red: '#ff4033',
  orange: '#ff9500',
  yellow: '#ffdd00',
  green: '#2fd158',
  teal: '#2dd4bf',
  blue: '#3d9bff',
  purple: '#b56cff',
  pink: '#ff5fa8',
};

/** A color's name as `#rrggbb`. Throws for a name that the interface does not have. Pure. */
export function colorOf(name: string): string {
  const color = colors[name];
  if (color === undefined) throw new Error(`There is no color ${name}.`);
  return color;
}

/** What stands around text of this color (`#rrggbb`) so that it reads over any picture. Pure. */
export function outlineOf(color: string): string {
  return luminance(color) < 0.18 ? '#ffffff' : '#000000';
}

/** Contrast of two colors, 1 to 21, by WCAG 2. Pure. */
export function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Relative luminance by WCAG 2, 0 to 1. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
