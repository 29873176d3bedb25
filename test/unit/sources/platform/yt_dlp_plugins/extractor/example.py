"""The test's own hosting platform: its server says what the extractor gives or raises."""

from yt_dlp.extractor.common import InfoExtractor
from yt_dlp.utils import ExtractorError


class ExampleVideoIE(InfoExtractor):
    _VALID_URL = r'https?://video\.example(?::\d+)?/watch/(?P<id>[\w-]+)'

    def _real_extract(self, url):
        video_id = self._match_id(url)
        info = self._download_json(url.replace('/watch/', '/api/'), video_id)
        if info.get('raise'):
            raise ExtractorError(info['raise'], expected=True)
        return {'id': video_id, **info}
