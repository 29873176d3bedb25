"""The sample's pictures: a portrait whose mouth, eyes and head move, and a slow ride over a Hubble picture."""

from pathlib import Path

import cv2
import numpy as np

"""All places are in the 512x512 portrait's pixels; the texture is worked on five times as large."""
TEXTURE = 5
"""The edges of the lips on the mouth's inside, left corner to right corner (measured with a face mesh)."""
LOWER_LIP = [(202.6, 139.9), (206.5, 142.7), (209.6, 145.0), (213.6, 147.2), (217.9, 149.4), (224.2, 150.2), (230.0, 149.6), (234.4, 148.0), (238.4, 146.0), (241.4, 143.8), (247.2, 140.4)]
UPPER_LIP = [(202.6, 139.8), (206.5, 140.0), (209.4, 140.6), (213.3, 141.5), (218.1, 142.3), (224.2, 142.9), (229.6, 142.8), (234.4, 142.3), (238.3, 141.7), (241.3, 141.1), (247.2, 140.3)]
MOUTH_X = 224.6
MOUTH_HALF_WIDTH = 22.5
MOUTH_BOX = (184, 118, 266, 194)
CHIN_Y = 177
"""Each eye: left, right, the upper lid's edge, the lower lid's edge, where the lid's fold begins."""
EYES = [
    dict(box=(190, 90, 217, 110), left=193.5, right=213.0, upper=97.6, lower=104.0, fold=92.0),
    dict(box=(233, 91, 262, 112), left=236.5, right=257.5, upper=99.8, lower=106.2, fold=94.0),
]
HEAD = dict(x=226, y=100, half_width=86, half_height=100, pivot=(226, 186))

SHOTS = {
    "wide": dict(centre=(229, 124), width=428, push=0.050),
    "close": dict(centre=(226, 108), width=262, push=0.030),
    "medium": dict(centre=(233, 116), width=336, push=0.045),
}
"""The Hubble picture: from the whole to a part, in its own pixels (1000x872)."""
RIDE = [((500, 436), 990), ((560, 500), 620)]
LABEL = "synthetic voice and motion"


class Scene:
    """Frames by number: frame(n) is a pure function of n."""

    def __init__(self, assets: Path, timeline, mouth, size, fps):
        portrait = cv2.imread(str(assets / "astronaut.png"))
        large = cv2.resize(portrait, None, fx=TEXTURE, fy=TEXTURE, interpolation=cv2.INTER_LANCZOS4)
        soft = cv2.GaussianBlur(large, (0, 0), 4)
        self.texture = cv2.addWeighted(large, 1.35, soft, -0.35, 0)
        self.sky = cv2.imread(str(assets / "hubble_deep_field.jpg"))
        self.width, self.height = size
        self.fps = fps
        self.opening, self.wideness = mouth
        self.frame_count = len(self.opening)
        self.shots = shots_of(timeline, self.frame_count, fps)
        self.head_weight = head_weight(portrait.shape[:2])
        self.vignette = vignette(size)
        self.grain = np.random.default_rng(7).normal(0, 1.1, (8, self.height, self.width, 1)).astype(np.float32)

    def frame(self, number: int):
        name, first, last = next(shot for shot in self.shots if shot[1] <= number < shot[2])
        part = (number - first) / max(1, last - first)
        image = self.ride(part) if name == "picture" else self.talk(SHOTS[name], part, number)
        lit = image.astype(np.float32) * self.vignette + self.grain[number % len(self.grain)]
        return label(np.clip(lit, 0, 255).astype(np.uint8))

    def ride(self, part: float):
        eased = part * part * (3 - 2 * part)
        (from_centre, from_width), (to_centre, to_width) = RIDE
        centre = [a + (b - a) * eased for a, b in zip(from_centre, to_centre)]
        scale = self.width / (from_width + (to_width - from_width) * eased)
        matrix = np.array([[scale, 0, self.width / 2 - scale * centre[0]], [0, scale, self.height / 2 - scale * centre[1]]])
        return cv2.warpAffine(self.sky, matrix, (self.width, self.height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)

    def talk(self, shot, part: float, number: int):
        texture = self.texture.copy()
        move_mouth(texture, self.texture, self.opening[number], self.wideness[number])
        for eye in EYES:
            close_eye(texture, self.texture, eye, blink(number / self.fps))
        map_x, map_y = self.look(shot, part, number)
        return cv2.remap(texture, map_x * TEXTURE, map_y * TEXTURE, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    def look(self, shot, part: float, number: int):
        """Where each pixel of the frame lies in the portrait, camera and head movement undone."""
        seconds = number / self.fps
        width = shot["width"] * (1 - shot["push"] * part)
        step = width / self.width
        sway_x, sway_y = 0.5 * np.sin(seconds * 0.9 + 1), 0.4 * np.sin(seconds * 1.13)
        left = shot["centre"][0] + sway_x - width / 2
        top = shot["centre"][1] + sway_y - step * self.height / 2
        xs = np.broadcast_to((left + step * np.arange(self.width, dtype=np.float32)), (self.height, self.width))
        ys = np.broadcast_to((top + step * np.arange(self.height, dtype=np.float32))[:, None], (self.height, self.width))
        xs, ys = np.ascontiguousarray(xs, np.float32), np.ascontiguousarray(ys, np.float32)
        weight = cv2.remap(self.head_weight, xs, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        angle, shift_x, shift_y = self.head_pose(number)
        pivot_x, pivot_y = HEAD["pivot"]
        moved_x = angle * (ys - pivot_y) - shift_x
        moved_y = -angle * (xs - pivot_x) - shift_y
        return (xs + weight * moved_x).astype(np.float32), (ys + weight * moved_y).astype(np.float32)

    def head_pose(self, number: int):
        """A slow sway, and small nods with the stress of the speech."""
        seconds = number / self.fps
        stress = self.opening[max(0, number - 5) : number + 6].mean()
        angle = 0.014 * np.sin(seconds * 1.7) + 0.009 * np.sin(seconds * 0.73 + 2)
        shift_x = 1.5 * np.sin(seconds * 1.1 + 0.5)
        shift_y = 0.8 * np.sin(seconds * 1.9) + 1.6 * (stress - 0.4)
        return angle, shift_x, shift_y


def shots_of(timeline, frame_count: int, fps: int):
    """(name, first frame, frame after the last): cuts lie in the pauses, a little before the next word."""
    shots = []
    for index, sentence in enumerate(timeline):
        start = 0 if index == 0 else int((sentence["start"] - 0.12) * fps)
        if shots and shots[-1][0] == sentence["shot"]:
            continue
        if shots:
            shots[-1] = (shots[-1][0], shots[-1][1], start)
        shots.append((sentence["shot"], start, frame_count))
    return shots


def move_mouth(texture, rest, opening: float, wideness: float) -> None:
    """Shifts the lower lip and the jaw, shows what is between the lips, and draws the corners in or out."""
    left, top, right, bottom = MOUTH_BOX
    ys, xs = np.mgrid[top * TEXTURE : bottom * TEXTURE, left * TEXTURE : right * TEXTURE].astype(np.float32) / TEXTURE
    # At rest the portrait smiles with its teeth: speech closes the mouth as well as opening it.
    shift = -5.6 + 12.2 * opening
    squeeze = (0.05 * wideness - 0.075 * opening) * np.exp(-(((xs - MOUTH_X) / 34) ** 2) - (((ys - 146) / 20) ** 2))
    source_xs = MOUTH_X + (xs - MOUTH_X) / (1 + squeeze)
    columns = source_xs
    lower = np.interp(columns, *zip(*LOWER_LIP)).astype(np.float32)
    upper = np.interp(columns, *zip(*UPPER_LIP)).astype(np.float32)
    across = np.clip(1 - ((columns - MOUTH_X) / MOUTH_HALF_WIDTH) ** 2, 0, 1) ** 0.75
    edge = np.maximum(lower + shift * across, upper + 0.5)
    lip_shift = edge - lower
    jaw_shift = 0.85 * shift * np.exp(-(((columns - MOUTH_X) / 30) ** 2))
    into_jaw = smoothstep((ys - edge) / 9)
    # Below the chin the neck stays where it is.
    fading = 1 - smoothstep((ys - CHIN_Y) / 15)
    below = (lip_shift * (1 - into_jaw) + jaw_shift * into_jaw) * fading * smoothstep((ys - edge + 0.5) / 1.0)
    source_ys = ys - below
    # Above the mouth's edge nothing moves, but at its sides the cheeks are drawn along.
    moved = cv2.remap(rest, (source_xs * TEXTURE).astype(np.float32), (source_ys * TEXTURE).astype(np.float32), cv2.INTER_LINEAR)
    gap = smoothstep((ys - lower - 0.2) / 0.7) * smoothstep((edge - ys + 0.3) / 0.7) * (across > 0.02)
    depth = np.clip((ys - lower) / np.maximum(edge - lower, 0.5), 0, 1)[..., None]
    inside = np.array([18, 16, 34], np.float32) * (1 - depth) + np.array([46, 42, 92], np.float32) * depth**2
    mixed = moved * (1 - gap[..., None]) + inside * gap[..., None]
    texture[top * TEXTURE : bottom * TEXTURE, left * TEXTURE : right * TEXTURE] = faded_in(texture, mixed, MOUTH_BOX)


def close_eye(texture, rest, eye, closed: float) -> None:
    """Stretches the upper lid down over the eye."""
    if closed <= 0:
        return
    left, top, right, bottom = eye["box"]
    ys, xs = np.mgrid[top * TEXTURE : bottom * TEXTURE, left * TEXTURE : right * TEXTURE].astype(np.float32) / TEXTURE
    middle, half = (eye["left"] + eye["right"]) / 2, (eye["right"] - eye["left"]) / 2
    arch = np.clip(1 - ((xs - middle) / half) ** 2, 0, 1) ** 0.6
    upper = eye["lower"] - 1.5 - (eye["lower"] - 1.5 - eye["upper"]) * arch
    travel = closed * (eye["lower"] - eye["upper"]) * arch
    lid = upper + travel
    stretched = eye["fold"] + (ys - eye["fold"]) * (upper - eye["fold"]) / np.maximum(lid - eye["fold"], 0.5)
    source_ys = np.where((ys > eye["fold"]) & (ys < lid), stretched, ys)
    moved = cv2.remap(rest, xs * TEXTURE, source_ys.astype(np.float32) * TEXTURE, cv2.INTER_LINEAR)
    texture[top * TEXTURE : bottom * TEXTURE, left * TEXTURE : right * TEXTURE] = faded_in(texture, moved, eye["box"])


def faded_in(texture, part, box):
    """A part that melts into the texture along its border."""
    left, top, right, bottom = (value * TEXTURE for value in box)
    below = texture[top:bottom, left:right].astype(np.float32)
    height, width = below.shape[:2]
    margin = 2.0 * TEXTURE
    ys, xs = np.arange(height)[:, None], np.arange(width)[None, :]
    inward = np.minimum(np.minimum(xs, width - 1 - xs), np.minimum(ys, height - 1 - ys)) / margin
    weight = smoothstep(inward)[..., None]
    return (below * (1 - weight) + part * weight).astype(np.uint8)


def blink(seconds: float) -> float:
    """Closed for a moment every three to five seconds, always at the same times."""
    for start in (1.9, 5.6, 6.1, 9.8, 14.1, 17.7, 22.4, 24.9, 28.6, 29.1, 32.7, 36.5):
        since = seconds - start
        if 0 <= since < 0.20:
            return float(min(1.0, since / 0.07, (0.20 - since) / 0.09))
    return 0.0


def head_weight(shape):
    """1 on the head, 0 on the suit and far away, smooth between."""
    ys, xs = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    distance = np.hypot((xs - HEAD["x"]) / HEAD["half_width"], (ys - HEAD["y"]) / HEAD["half_height"])
    around = 1 - smoothstep((distance - 0.85) / 0.55)
    neck = 1 - smoothstep((ys - 172) / 26)
    return (around * neck).astype(np.float32)


def vignette(size):
    width, height = size
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    distance = np.hypot((xs - width / 2) / width, (ys - height / 2) / height)
    return (1 - 0.45 * np.clip(distance - 0.25, 0, 1) ** 1.5)[..., None].astype(np.float32)


def label(image):
    place = (24, image.shape[0] - 24)
    cv2.putText(image, LABEL, place, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(image, LABEL, place, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (225, 225, 225), 1, cv2.LINE_AA)
    return image


def smoothstep(value):
    clipped = np.clip(value, 0, 1)
    return clipped * clipped * (3 - 2 * clipped)


def save(image, path: Path) -> None:
    cv2.imwrite(str(path), image)
