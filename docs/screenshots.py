"""Take screenshots of the built site at two widths: ``python docs/screenshots.py FOLDER``.

Prints the pages that are wider than the window. The exit code is 1 if there are any.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from selenium import webdriver

SITE = Path("build/site")
WIDTHS = {"wide": 1400, "narrow": 420}
OVERFLOW = "return document.documentElement.scrollWidth - window.innerWidth"


def browser(width: int) -> webdriver.Chrome:
    """Return a headless Chromium with the given window width."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={width},1600")
    options.binary_location = shutil.which("chromium") or ""
    return webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver") or ""))


def main(folder: Path) -> int:
    """Save screenshots of all pages and return how many pages overflow."""
    folder.mkdir(parents=True, exist_ok=True)
    overflowing = 0
    for name, width in WIDTHS.items():
        driver = browser(width)
        # Headless Chromium has a minimum width of 500 unless it emulates a phone.
        size = {"width": width, "height": 1600, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for page in sorted(SITE.rglob("*.html")):
            driver.get(page.absolute().as_uri())
            excess = int(driver.execute_script(OVERFLOW))
            title = str(page.relative_to(SITE)).replace("/", "-").removesuffix(".html")
            driver.save_screenshot(str(folder / f"{title}-{name}.png"))
            if excess > 1:
                overflowing += 1
                sys.stdout.write(f"{title} at {width}: {excess} pixels too wide\n")
        driver.quit()
    return overflowing


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1])) else 0)
