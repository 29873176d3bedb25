#!/bin/sh
# Node for yt-dlp, which runs a platform's own player code to find a video's address: in a network of its own
# with nothing in it, whatever that code tries, and no longer than yt-dlp lives. Where the system forbids that,
# yt-dlp finds no Node and does without. OFFLINE_NODE is the real one.
exec /usr/bin/unshare --map-root-user --net -- /usr/bin/setpriv --pdeathsig KILL -- "$OFFLINE_NODE" "$@"
