// Hydrogen bonds, salt bridges and the nearest residues of one residue, with the limits and roles that Python provides.
// Concatenated with ``scene.js``.
function isHeavy(atom) { return atom.elem !== 'H' && atom.elem !== 'D'; }

function measureApart(one, other) { return Math.hypot(one.x - other.x, one.y - other.y, one.z - other.z); }

// 1 for a donor, 2 for an acceptor, 3 for a nitrogen or oxygen that can be either, 0 for one that is neither.
function findRole(atom, hydrogens, atoms, rules) {
  var known = (rules.roles[atom.resn.trim()] || {})[atom.atom], has = hydrogens.length;
  if (rules.rings[atom.resn.trim()] && /^(ND1|NE2)$/.test(atom.atom)) {
    return has ? 1 : atoms.some(function (each) { return /^(ND1|NE2)$/.test(each.atom) && listHydrogens(each, atoms).length; }) ? 2 : 3;
  }
  return (known ?? 3) | (has ? 1 : 0);
}

function listHydrogens(atom, atoms) {
  return atoms.filter(function (each) { return !isHeavy(each) && measureApart(each, atom) < 1.3; });
}

// Whether roles and angle permit a hydrogen bond in this direction.
function canDonate(donor, acceptor, rules) {
  return donor.role & 1 && acceptor.role & 2
    && (!donor.light.length || donor.light.some(function (each) { return measureAtoms([donor.atom, each, acceptor.atom]) >= rules.angle; }));
}

// Sequence neighbours are close because they are bonded; the shortest turn of the main chain spans three residues.
function areBonded(one, other) {
  var count = [one, other].filter(function (atom) { return /^(N|CA|C|O|OXT|P|OP[12]|[OC][35]')$/.test(atom.atom); }).length;
  return one.model === other.model && one.chain === other.chain && Math.abs(one.resi - other.resi) <= count;
}

// Whether two atoms other than metals and halogens are so close that they are bonded; also true of an atom and itself.
function areCovalent(one, other) {
  return measureApart(one, other) <= 1.95 && /^[BCNOPS]{2}$/i.test(one.elem + other.elem);
}

// {own, other, distance, isBond, isBridge}, shortest first; ``own`` and ``near`` are complete residues.
function listBonds(own, near, rules) {
  var residues = {}, found = [], links = [];
  near.forEach(function (they) {
    (residues[findKey(they)] = residues[findKey(they)] || []).push(they);
    // covalent bonds of ligands and glycans: atoms at most three bonds apart are close because of one
    own.forEach(function (me) { if (areCovalent(me, they)) links.push([me, they]); });
  });
  var polar = function (atoms) {
    return atoms.filter(function (atom) { return /^[NO]$/.test(atom.elem); }).map(function (atom) {
      var light = listHydrogens(atom, atoms);
      return { atom: atom, light: light, role: findRole(atom, light, atoms, rules), charge: rules.charges[atom.resn.trim() + ' ' + atom.atom] || 0 };
    });
  };
  var mine = polar(own);
  Object.keys(residues).forEach(function (key) {
    polar(residues[key]).forEach(function (they) {
      mine.forEach(function (me) {
        var distance = measureApart(me.atom, they.atom);
        if (distance > rules.bridge || areBonded(me.atom, they.atom)
          || links.some(function (link) { return areCovalent(me.atom, link[0]) && areCovalent(they.atom, link[1]); })) return;
        var isBond = distance <= rules.bond && (canDonate(me, they, rules) || canDonate(they, me, rules)), isBridge = me.charge * they.charge < 0;
        if (isBond || isBridge) found.push({ own: me.atom, other: they.atom, distance: distance, isBond: isBond, isBridge: isBridge });
      });
    });
  });
  return found.sort(function (a, b) { return a.distance - b.distance; });
}

// An atom and the minimum distance of each residue, nearest first.
function listNearest(own, near) {
  var found = {}, heavy = own.filter(isHeavy);
  near.filter(isHeavy).forEach(function (atom) {
    var key = findKey(atom), least = Math.min.apply(null, heavy.map(function (mine) { return measureApart(mine, atom); }));
    if (!found[key] || least < found[key][1]) found[key] = [atom, least];
  });
  return Object.values(found).sort(function (a, b) { return a[1] - b[1]; });
}
