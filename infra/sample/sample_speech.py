"""The sample's speech (Kokoro-82M, Apache-2.0) and the mouth movement that fits it."""

import json
import re
import subprocess
import wave
from pathlib import Path

import numpy as np
import onnxruntime

RATE = 24_000

"""espeak's sounds that Kokoro writes as one letter."""
LETTERS = [
    ("eɪ", "A"), ("aɪ", "I"), ("oʊ", "O"), ("əʊ", "O"), ("aʊ", "W"), ("ɔɪ", "Y"), ("tʃ", "ʧ"), ("dʒ", "ʤ"),
    ("r", "ɹ"), ("x", "k"), ("ɬ", "l"), ("ɜːɹ", "ɜɹ"), ("ɐ", "ə"), ("ᵻ", "ɪ"), ("ɚ", "əɹ"),
]  # fmt: skip


def speak(script, assets: Path, voice: str, lead_seconds: float):
    """All sentences as samples, and for each its shot, start and end in seconds."""
    session = onnxruntime.InferenceSession(str(assets / "kokoro.onnx"))
    vocabulary = json.loads((assets / "vocab.json").read_text())["vocab"]
    styles = np.fromfile(assets / f"{voice}.bin", np.float32).reshape(-1, 1, 256)
    pieces = [np.zeros(int(lead_seconds * RATE), np.float32)]
    timeline = []
    seconds = lead_seconds
    for sentence, pause_seconds, shot in script:
        tokens = [vocabulary[letter] for letter in phonemes(sentence) if letter in vocabulary]
        inputs = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": styles[len(tokens)],
            "speed": np.array([0.97], np.float32),
        }
        spoken = trimmed(session.run(None, inputs)[0].ravel())
        timeline.append({"shot": shot, "start": seconds, "end": seconds + len(spoken) / RATE})
        seconds += len(spoken) / RATE + pause_seconds
        pieces += [spoken, np.zeros(int(pause_seconds * RATE), np.float32)]
    return np.concatenate(pieces), timeline


def phonemes(sentence: str) -> str:
    """espeak drops punctuation, which the voice needs for its melody: so phrase by phrase."""
    phrases = []
    for phrase, mark in re.findall(r"([^,.;:!?]+)([,.;:!?]*)", sentence):
        command = ["espeak-ng", "-v", "en-us", "-q", "--ipa=3", phrase.strip()]
        sounds = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        sounds = " ".join(sounds.split()).replace("\u200d", "").replace("_", "")
        for several, one in LETTERS:
            sounds = sounds.replace(several, one)
        phrases.append(sounds + mark)
    return " ".join(phrases)


def trimmed(samples):
    loud = np.where(np.abs(samples) > 0.01)[0]
    return samples[max(0, loud[0] - 700) : loud[-1] + 1200]


def mouth_track(sound_path: Path, fps: int):
    """For each frame: how far the mouth is open (0 to 1) and how wide or round it is (-1 to 1)."""
    with wave.open(str(sound_path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    count = int(np.ceil(len(samples) * fps / RATE))
    window = int(0.040 * RATE)
    taper = np.hanning(window)
    frequencies = np.fft.rfftfreq(window, 1 / RATE)
    vowel_band = (frequencies > 250) & (frequencies < 1200)
    front_band = (frequencies > 1800) & (frequencies < 3200)
    hiss_band = frequencies > 4000
    padded = np.concatenate([np.zeros(window, np.float32), samples, np.zeros(window, np.float32)])
    opening, width = np.zeros(count), np.zeros(count)
    for frame in range(count):
        # The mouth leads its sound by about a frame.
        middle = int((frame + 1) * RATE / fps) + window
        spectrum = np.abs(np.fft.rfft(padded[middle - window // 2 : middle + window // 2] * taper))
        vowel, front, hiss = (np.sqrt((spectrum[band] ** 2).sum()) for band in (vowel_band, front_band, hiss_band))
        opening[frame] = vowel * (1 - 0.6 * hiss / (vowel + hiss + 1e-6))
        width[frame] = np.tanh(2.2 * (front / (vowel + 1e-6) - 0.35)) if vowel > 1e-3 else 0
    opening = np.clip(opening / np.percentile(opening, 92), 0, 1.1) ** 0.75
    return smoothed(opening, rise=0.75, fall=0.5), smoothed(width, rise=0.35, fall=0.35)


def smoothed(values, rise: float, fall: float):
    """Jaws open faster than they close."""
    result = np.zeros_like(values)
    for index, value in enumerate(values):
        before = result[index - 1] if index else 0
        result[index] = before + (value - before) * (rise if value > before else fall)
    return result
