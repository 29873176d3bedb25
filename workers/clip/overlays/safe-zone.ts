/** A clip's picture, in pixels. */
export const frame = { width: 1080, height: 1920 } as const;

/**
 * Where text may stand: what the apps that show such clips leave free of their own (names and search above,
 * description below, buttons at the right). As wide on the left, so that text stands in the middle.
 */
export const safeZone = {
  top: 250,
  bottom: frame.height - 420,
  left: 170,
  right: frame.width - 170,
} as const;

export const safeWidth: number = safeZone.right - safeZone.left;
