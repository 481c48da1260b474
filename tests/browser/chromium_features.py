"""Features of Chromium that are switched off for the pages of tests and benchmarks."""

_OF_NOBODY = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "PreloadTopChromeWebUI")
"""Chromium's own pages, such as the list below the address bar, take a fifth of the processor time of opening
JupyterLab.
"""
_OF_PLAYWRIGHT = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
)
"""The features that Playwright disables: Chromium uses only the last `--disable-features`."""
LEFT_OUT = f"--disable-features={','.join((*_OF_NOBODY, *_OF_PLAYWRIGHT))}"
"""The command-line argument."""
