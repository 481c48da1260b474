// Opens what is folded while the page is printed.
(function () {
  var opened = [];
  window.addEventListener('beforeprint', function () {
    opened = Array.from(document.querySelectorAll('details:not([open])'));
    opened.forEach(function (each) { each.open = true; });
  });
  window.addEventListener('afterprint', function () {
    opened.forEach(function (each) { each.open = false; });
    opened = [];
  });
})();
