"""Requirements on the host that pip does not install, with the sentences that name them."""

from __future__ import annotations

from typing import Final

# Direct dependencies of Qt's widgets and X11 platform; the others come with them.
QT_PACKAGES: Final = (
    "libegl1 libgl1 libglib2.0-0 libfontconfig1 libdbus-1-3 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 "
    "libxcb-icccm4 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-sync1 libxcb-xfixes0"
)
INSTALL_QT: Final = f"apt-get install {QT_PACKAGES}"
