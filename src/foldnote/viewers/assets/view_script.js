// Writes the content of a view, with its coordinates, as a script for PyMOL or ChimeraX. A page loads it on request.
(function () {
  // Numbers, with consecutive ones as ranges, such as 1-20 and 52A.
  function joinNumbers(numbers) {
    var runs = [];
    numbers.forEach(function (number) {
      var last = runs[runs.length - 1];
      if (last && /^\d+$/.test(number) && +number === +last[1] + 1) last[1] = number; else runs.push([number, number]);
    });
    return runs;
  }

  // Any name of a chain or atom in a file stays a name: it can neither end a string nor begin a command.
  function writeName(text, instead) { return String(text === undefined ? '' : text).trim().replace(/[^\w'*+.-]/g, '_') || instead; }

  function writeChain(atom) { return writeName(atom.chain, 'A').replace(/['*+]/g, '_'); }

  function quote(name) { return /^\w[\w.-]*$/.test(name) && name[0] !== '_' ? name : '"' + name + '"'; }

  var COLUMNS = 'group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id label_entity_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy B_iso_or_equiv auth_seq_id auth_comp_id auth_asym_id auth_atom_id pdbx_PDB_model_num';

  function writeCif(atoms) {
    var rows = atoms.map(function (atom, place) {
      var name = quote(writeName(atom.atom, atom.elem + (place + 1))), residue = quote(writeName(atom.resn, 'UNL')), chain = quote(writeChain(atom)), number = atom.resi || 1, isOther = atom.hetflag || !atom.resn;
      return [isOther ? 'HETATM' : 'ATOM', place + 1, writeName(atom.elem, 'X'), name, '.', residue, chain, '1', isOther ? '.' : number, quote(writeName(atom.icode, '?')).replace(/"/g, '')]
        .concat([atom.x, atom.y, atom.z].map(function (value) { return value.toFixed(3); }), '1', (atom.b || 0).toFixed(2), number, residue, chain, name, '1').join(' ');
    });
    return ['data_view', 'loop_'].concat(COLUMNS.split(' ').map(function (name) { return '_atom_site.' + name; }), rows, '').join('\n');
  }

  // The equivalent commands of each program. A part is [model, chain, runs of numbers].
  var DIALECTS = {
    pymol: {
      select: function (part, element) {
        var runs = part[2].map(function (run) { return (run[0] === run[1] ? run[0] : run[0] + '-' + run[1]).replace(/^-/, '\\-'); });
        return 'model_' + part[0] + ' and chain "' + part[1] + '" and resi ' + runs.join('+') + (element ? ' and elem ' + element : '');
      },
      cartoon: function (who, color, opacity) {
        return ['show cartoon, ' + who, 'set cartoon_color, 0x' + color + ', ' + who].concat(opacity < 1 ? 'set cartoon_transparency, ' + (1 - opacity).toFixed(2) + ', ' + who : []);
      },
      surface: function (who, color, opacity) { return ['show surface, ' + who, 'set surface_color, 0x' + color + ', ' + who, 'set transparency, ' + (1 - opacity).toFixed(2) + ', ' + who]; },
      sticks: function (who) { return ['show sticks, ' + who]; },
      spheres: function (who, radius) { return ['show spheres, ' + who, 'alter ' + who + ', vdw=' + radius.toFixed(2)]; },
      color: function (who, color) { return ['color 0x' + color + ', ' + who]; },
      line: function (line, number) {
        var ends = ['line_' + number + '_from', 'line_' + number + '_to'], name = 'line_' + number;
        return ends.map(function (end, side) { return 'pseudoatom ' + end + ', pos=[' + line[side].map(fixed).join(', ') + ']'; })
          .concat('distance ' + name + ', ' + ends.join(', '), 'color 0x' + line[3].slice(1) + ', ' + name, line[2] ? [] : 'hide labels, ' + name, 'hide everything, ' + ends.join(' or '));
      },
      whole: function (models, commands, eye) {
        var rows = eye.rows, turn = [0, 1, 2].map(function (column) { return rows.map(function (row) { return row[column]; }); });
        return ['# Written by foldnote: what a view showed. Open this file in PyMOL.', 'python'].concat(
          models.map(function (model) { return 'cmd.load_raw(r"""' + model.text + '""", "cif", "model_' + model.number + '")'; }),
          'python end', 'bg_color white', 'set stick_radius, 0.16', 'hide everything', commands, 'rebuild', 'set field_of_view, 20',
          'set_view (' + [].concat.apply([], turn).concat(0, 0, -eye.distance, eye.centre, Math.max(1, eye.distance - eye.radius), eye.distance + eye.radius, -20).map(fixed).join(', ') + ')', ''
        ).join('\n');
      }
    },
    chimerax: {
      select: function (part, element) {
        var runs = ':' + part[2].map(function (run) { return run[0] === run[1] ? run[0] : run[0] + '-' + run[1]; }).join(','), model = '#{' + (part[0] - 1) + '}';
        return (/^[A-Za-z0-9]+$/.test(part[1]) ? model + '/' + part[1] + runs : model + '::chain_id="' + part[1] + '" & ' + model + runs) + (element ? ' & ' + element : '');
      },
      cartoon: function (who, color, opacity) { return ['cartoon ' + who, 'color ' + who + ' #' + color + ' target c'].concat(opacity < 1 ? 'transparency ' + who + ' ' + Math.round(100 - 100 * opacity) + ' target c' : []); },
      surface: function (who, color, opacity) { return ['surface ' + who, 'color ' + who + ' #' + color + ' target s', 'transparency ' + who + ' ' + Math.round(100 - 100 * opacity) + ' target s']; },
      sticks: function (who) { return ['show ' + who + ' atoms', 'style ' + who + ' stick']; },
      spheres: function (who, radius) { return ['show ' + who + ' atoms', 'style ' + who + ' sphere', 'size ' + who + ' atomRadius ' + radius.toFixed(2)]; },
      color: function (who, color) { return ['color ' + who + ' #' + color + ' target a']; },
      line: function (line) { return ['shape cylinder radius 0.08 fromPoint ' + line[0].map(fixed) + ' toPoint ' + line[1].map(fixed) + ' color ' + line[3]]; },
      whole: function (models, commands, eye) {
        var back = [0, 1, 2].map(function (axis) { return eye.rows.map(function (row) { return row[axis]; }).concat(eye.centre[axis] + eye.rows[2][axis] * eye.distance); });
        var wide = 2 * Math.atan(Math.tan(Math.PI / 18) * eye.aspect) * 180 / Math.PI;
        var all = ['set bgColor white', 'hide atoms', 'hide cartoons'].concat(commands, 'camera fieldOfView ' + wide.toFixed(2), 'view matrix camera ' + [].concat.apply([], back).map(fixed).join(','));
        return ['# Written by foldnote: what a view showed. Open this file in ChimeraX.', 'import os', 'import tempfile', '', 'from chimerax.core.commands import run', '', 'models = []', 'texts = [']
          .concat(models.map(function (model) { return 'r"""' + model.text + '""",'; }), ']', 'with tempfile.TemporaryDirectory() as folder:', '    for number, text in enumerate(texts, 1):',
            '        path = os.path.join(folder, f"model_{number}.cif")', '        with open(path, "w") as file:', '            file.write(text)', '        models.append(run(session, f\'open "{path}"\')[0].id_string)',
            'for line in r"""', all, '""".strip().splitlines():', '    run(session, line.format(*models))', '').reduce(function (lines, each) { return lines.concat(each); }, []).join('\n');
      }
    }
  };

  function fixed(value) { return String(+(+value).toFixed(4)); }

  // ``view`` provides the scene, the live viewer, and what is visible in which style. Residues with the same appearance
  // are one command.
  function writeScript(view, kind) {
    var say = DIALECTS[kind], viewer = view.viewer(), groups = {}, models = [], radius = 0;
    var seen = view.listSeen().filter(function (atom) { return Object.keys(atom.style).length; }), place = viewer.getView(), centre = place.slice(0, 3).map(function (value) { return -value; });
    var paint = function (atom, look) { return (window.$3Dmol.getColorFromStyle(atom, look).getHex() + 0x1000000).toString(16).slice(1); };
    var join = function (what, detail, atom) {
      var key = [what].concat(detail).join('|'), model = models.find(function (each) { return each.index === atom.model; }).number, name = writeChain(atom), chain = model + '|' + name;
      var group = groups[key] = groups[key] || { what: what, detail: detail, chains: {} };
      var numbers = group.chains[chain] = group.chains[chain] || { model: model, name: name, set: new Set() };
      numbers.set.add((atom.resi || 1) + writeName(atom.icode, '').replace(/\W/g, ''));
    };
    seen.forEach(function (atom) {
      var model = models.find(function (each) { return each.index === atom.model; });
      if (!model) models.push(model = { index: atom.model, number: models.length + 1, atoms: [] });
      model.atoms.push(atom);
      radius = Math.max(radius, Math.hypot(atom.x - centre[0], atom.y - centre[1], atom.z - centre[2]) + 5);
    });
    models.forEach(function (model) { model.text = writeCif(model.atoms); });
    seen.forEach(function (atom) {
      var look = atom.style, isLead = /^(CA|C4'|P)$/.test(atom.atom) || (look.sphere && !look.cartoon);
      if (look.cartoon && isLead) {
        join('cartoon', [paint(atom, look.cartoon), look.cartoon.opacity || 1], atom);
        if (view.isSurface()) join('surface', [paint(atom, look.cartoon), view.scene.opacity], atom);
      }
      if (look.stick) join('sticks', [], atom);
      if (look.sphere) join('spheres', [look.sphere.radius || 1.7 * (look.sphere.scale || 1)], atom);
      if (look.stick || look.sphere) join('color', [writeName(atom.elem, 'X'), paint(atom, look.stick || look.sphere)], atom);
    });
    var commands = [].concat.apply([], Object.values(groups).map(function (group) {
      return [].concat.apply([], Object.values(group.chains).map(function (chain) {
        var detail = group.detail.slice(), element = group.what === 'color' ? detail.shift() : '';
        return say[group.what].apply(null, [say.select([chain.model, chain.name, joinNumbers(Array.from(chain.set))], element)].concat(detail));
      }));
    }));
    view.lines().forEach(function (line, index) { commands = commands.concat(say.line(line, index + 1)); });
    return say.whole(models, commands, { rows: turnRows(place.slice(4)), centre: centre, distance: 150 - place[3], radius: radius, aspect: view.stage.clientWidth / view.stage.clientHeight });
  }

  // The rotation of a unit quaternion (x, y, z, w), by rows.
  function turnRows(q) {
    var x = q[0], y = q[1], z = q[2], w = q[3];
    return [
      [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
      [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
      [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]
    ];
  }

  return writeScript;
})()
