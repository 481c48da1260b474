// Opens what is folded while the page is printed, and shows stills on white in place of views on a dark ground.
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
