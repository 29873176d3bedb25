"""Says which of yt-dlp's extractors, other than the generic one, knows a URL; asks nothing of the network."""

import sys

from yt_dlp.extractor import gen_extractor_classes
from yt_dlp.plugins import load_all_plugins

load_all_plugins()
for extractor in gen_extractor_classes():
    if extractor.ie_key() != 'Generic' and extractor.suitable(sys.argv[1]):
        print(extractor.ie_key())
        break
