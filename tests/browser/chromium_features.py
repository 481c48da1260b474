"""Features of Chromium that pages of tests and benchmarks do without."""

_OF_NOBODY = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "PreloadTopChromeWebUI")
"""Pages of the browser's own, such as the list below its address line: a fifth of the processor time of opening JupyterLab."""
_OF_PLAYWRIGHT = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
)
"""Those that Playwright leaves out; of two such arguments, Chromium takes the last."""
LEFT_OUT = f"--disable-features={','.join((*_OF_NOBODY, *_OF_PLAYWRIGHT))}"
"""The argument."""
