// While the page is printed, opens folded parts and replaces views on dark backgrounds by still images on white.
(function () {
  var opened = [];
  window.addEventListener('beforeprint', function () {
    opened = Array.from(document.querySelectorAll('details:not([open])'));
    opened.forEach(function (each) { each.open = true; });
    document.documentElement.dataset.fnPrint = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  });
  window.addEventListener('afterprint', function () {
    opened.forEach(function (each) { each.open = false; });
    opened = [];
    delete document.documentElement.dataset.fnPrint;
  });
})();
